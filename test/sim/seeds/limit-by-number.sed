# queue.c: the counter has no limit: equal numbers are ordered by creation, all others by number
s/return name.number < 0 || name.number == INT32_MAX;/return name.number == INT32_MIN;/
