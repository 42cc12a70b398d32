/*
 * A question of an inspecting call: asked again until the servers have answered it or its limit has passed.
 *
 * @locks the functions that take a query expect the session's mutex, and give it up while waiting
 */
#ifndef ZKL_QUESTION_H
#define ZKL_QUESTION_H

#include "lock/query.h"
#include "recipe/name.h"

/* Asks once, about the full path. PENDING: something moved, ask again. Whatever it says else is the answer. */
typedef zklock_status zkl_question_fn(struct zkl_query *query, const char *path, void *context);

struct zkl_question {
    const char *path;  /* below the session's chroot */
    const char *child; /* of the path, which is what it is about; NULL: the path itself */
    zkl_question_fn *once;
    void *context;
    bool path_is_full;  /* it has the chroot in front already */
    bool root_is_meant; /* "/" without a chroot is no lock, but all locks are below it */
};

/* @thread any but a notifier  @locks takes the session's mutex */
zklock_status zkl_question_ask(zklock_session *session, const struct zkl_question *question, int64_t timeout_ms);

/* Sends one request and waits for its answer. PENDING: not sent, or not answered for certain. On OK the caller frees
 * *out_asked, whose code is one that is certain. */
zklock_status zkl_question_send(struct zkl_query *query, const struct zkl_request *request,
                                struct zkl_asked **out_asked);

/* Lists the children of a path. OK, also where there is no such path (`out_list` is NULL then); PENDING: ask again. */
zklock_status zkl_question_list(struct zkl_query *query, const char *path, struct zkl_asked **out_list);

/* What a code that is certain means to the caller. */
zklock_status zkl_question_status(enum zkl_code code);

/* inspect.c: one try to read a whole queue. PENDING: something moved. */
zklock_status zkl_queue_read_once(struct zkl_query *query, const char *path, zklock_queue **out_queue);

/* The mode that a contender of this kind was made in. */
zklock_mode zkl_mode_of(enum zkl_kind kind);

/* The same for the one contender `name`; without one (NULL), an empty queue. `exists` is left to the caller. */
zklock_status zkl_queue_read_one(struct zkl_query *query, const char *path, const char *name, zklock_queue **out_queue);

#endif
