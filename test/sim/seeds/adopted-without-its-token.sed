# lock/flight_reply.c: the token of a node that was found is not taken
/^static void take_own/,/^}/ s/attempt->token = (uint64_t)reply->stat.czxid;//
