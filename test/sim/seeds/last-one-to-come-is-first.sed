# cohort.c: the thread that came last is admitted first
s/^        cohort->last->next = waiter;/    {\n        waiter->next = cohort->first;\n        cohort->first = waiter;\n        return;\n    }/
