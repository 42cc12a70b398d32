# lock/flight_reply.c: a create without an answer is taken for refused
/^static void take_created/,/^}/ s/flight->event.first = zkl_flight_answer(reply->code);/flight->event.first = reply->code == ZKL_CODE_UNKNOWN ? ZKL_ANSWER_NO_NODE : zkl_flight_answer(reply->code);/
