# lock/attempt.c: where a part's wait ends and its contender stays what it is, the whole does not hear of it
s/ || attempt->result != result)/ || (attempt->result != result \&\& !attempt))/
