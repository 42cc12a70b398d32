# queue.c: negative numbers are ordered by number
s/return name.number < 0 || name.number == INT32_MAX;/return name.number == INT32_MAX;/
