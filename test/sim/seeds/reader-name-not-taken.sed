# lock/attempt.c: a contender that was downgraded goes on under the name of the writer
s/strcpy(attempt->own_path, attempt->reader_path);/(void)0;/
