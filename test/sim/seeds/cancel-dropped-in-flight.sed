# lock/attempt.c: a cancel that comes while a request is under way is dropped
/^void zkl_attempt_give_up/,/^}/ s/    zkl_attempt_feed/    if (attempt->machine.is_in_flight)\n        return;\n&/
