# lock/permit.c: who waits for a permit does not see that the limit was lowered
s/^    permit->limit = limit;/    if (limit > permit->limit)\n        permit->limit = limit;/
