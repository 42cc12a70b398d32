/* A flight under way, shared by the files that send it and that read its replies: nobody else includes this. */
#ifndef ZKL_FLIGHT_H
#define ZKL_FLIGHT_H

#include "lock/attempt.h"

/* Which part of its flight a request is. Those of a lease have names; the others are counted. */
enum {
    ZKL_PART_FIRST = 0,
    ZKL_PART_SECOND = 1,
    ZKL_PART_SET_LIMIT = 2,
    ZKL_PART_LIMIT = 3,
    ZKL_PART_BESIDE = 4, /* of a lock's as well */
    ZKL_PART_LEASES = 5,
};

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
    enum zkl_answer limit; /* of a lease's flight: whether its listing can be judged */
    bool has_other_limit;  /* and that the limit is not the one that was asked for */
    enum zkl_answer beside; /* why it is not known what stands beside; NONE: it is, or was not asked */
    struct zkl_event event;
    int call_count;
    struct flight_call calls[];
};

/* flight.c: a flight with room for so many requests; NULL: no memory. */
struct flight *zkl_flight_prepare(struct zkl_attempt *attempt, enum zkl_ask ask, int most_calls);
/* Hands one request on, as this part. False: not sent. */
bool zkl_flight_send_part(struct flight *flight, int part, const struct zkl_request *request);
/* Everything was sent. False: nothing was, and the flight is no more. */
bool zkl_flight_end_sending(struct flight *flight);

/* flight_reply.c: what a code says to the machine; and a line for the attempt's detail where it says no. */
enum zkl_answer zkl_flight_answer(enum zkl_code code);
void zkl_flight_describe(struct zkl_attempt *attempt, const char *what, const char *right,
                         const struct zkl_reply *reply);
/* The listing of a flight, with the place that it shows. */
enum zkl_answer zkl_flight_take_listing(struct flight *flight, const struct zkl_reply *reply);

/*
 * flight_beside.c: a lock and a semaphore at one path. Whether the next listing has to ask for the other's contenders;
 * asks for them where it has to; and takes what was answered, which the listing behind it is judged by.
 */
bool zkl_flight_must_look_beside(struct zkl_attempt *attempt, const struct zkl_reply *listing);
void zkl_flight_count_children(struct zkl_attempt *attempt, const struct zkl_reply *limit);
void zkl_flight_send_beside(struct flight *flight);
void zkl_flight_take_beside(struct flight *flight, const struct zkl_reply *reply);
void zkl_flight_judge_beside(struct flight *flight);

/* flight_lease.c: `first`, if there is one, and behind it the limit and the leases. False: nothing was sent. */
bool zkl_flight_send_lease(struct zkl_attempt *attempt, enum zkl_ask ask, const struct zkl_request *first);
/* Takes the parts that only a lease's flight has. */
void zkl_flight_take_lease(struct flight *flight, int part, const struct zkl_reply *reply);

/* flight_reply.c: takes what one reply says into the flight's event, and into the attempt. */
void zkl_flight_take_reply(struct flight *flight, int index, const struct zkl_reply *reply);
/* All answers of a survey are there: takes the place by them. */
void zkl_flight_finish_survey(struct flight *flight);

#endif
