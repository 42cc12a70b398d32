# lock/multi_api.c: the parts stand in the order in which they were added, not in that of their paths
/^static int place_of/,/^}/ s/^    while (at < multi->count \&\& .*/    at = multi->count;\n    if (at < 0)/
