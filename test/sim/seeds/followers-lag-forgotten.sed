# lease.c: a follower is taken to relay at once
s/previous->sent_ns - relay_lag(lease)/previous->sent_ns/
