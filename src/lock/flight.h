/* A flight under way, shared by the files that send it and that read its replies: nobody else includes this. */
#ifndef ZKL_FLIGHT_H
#define ZKL_FLIGHT_H

#include "lock/attempt.h"

struct flight_call {
    struct zkl_call call;
    struct flight *flight;
    int index;
};

struct flight {
    struct zkl_attempt *attempt; /* counted */
    enum zkl_ask ask;
    int pending; /* replies still to come, and one while it is being sent */
    bool lacks_memory; /* an answer came and could not be kept */
    struct zkl_event event;
    int call_count;
    struct flight_call calls[];
};

/* flight_reply.c: takes what one reply says into the flight's event, and into the attempt. */
void zkl_flight_take_reply(struct flight *flight, int index, const struct zkl_reply *reply);
/* All answers of a survey are there: takes the place by them. */
void zkl_flight_finish_survey(struct flight *flight);

#endif
