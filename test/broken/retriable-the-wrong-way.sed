# base/status.c: what may pass by itself is said not to, and the other way round
s/: return retriable;/: return !retriable;/
