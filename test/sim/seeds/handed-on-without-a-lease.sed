# cohort.c: a lock is handed on although its lease is over
s/ \&\& event->has_lease//
