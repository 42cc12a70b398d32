# cohort.c: a grant is handed on for as long as threads want it
s/ \&\& event->now_ns - cohort->granted_ns < cohort->most_ns//
