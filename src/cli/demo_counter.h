/*
 * The counter of the demonstration, a znode that several hosts share, and the accounts beside it.
 *
 * Reading, thinking and writing the counter are deliberately not atomic: only the lock keeps workers apart.
 * What a worker did is known exactly all the same, since each write goes together with the worker's own tally
 * in one multi:
 *
 *     PATH                    "VALUE TOKEN"      the counter, and the fencing token of its last writer
 *     PATH/tally-RUN-WORKER   "COUNT"            what this worker has added; only it writes here
 *     PATH/run-RUN            (ephemeral)        this run still goes on
 *
 * At any moment at which no write is on its way, VALUE is the sum of all tallies, less what was lost. So
 * every run judges by the difference between its beginning and its end, whoever else counts there at the
 * time. The last one to leave removes it all, in one multi that fails when somebody has come in between.
 */
#ifndef CLI_DEMO_COUNTER_H
#define CLI_DEMO_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct demo_counter_options {
    const char *servers; /* as -S; NULL: the default */
    const char *auth_file; /* NULL: no credentials */
    int timeout_ms;      /* of the session */
    const char *lock;    /* the lock's path */
    const char *counter; /* the counter's path */
    const char *run;     /* names this run, on this host */
    int worker;          /* negative: the run's judge */
    int stop_fd;         /* readable: give up waiting */
};

enum demo_result {
    DEMO_DONE,
    DEMO_NOT_DONE, /* for certain: the contender that the write depends on is gone, or the worker has to begin
                      again */
    DEMO_STOPPED,
    DEMO_FAILED, /* said so */
};

struct demo_reading {
    int64_t value;
    uint64_t token; /* of the last writer; 0: none */
};

/* Counter and accounts at one moment. */
struct demo_balance {
    int64_t value;
    int64_t added; /* the sum of all tallies */
};

struct demo_counter;

/* NULL: said why. Starts ZooKeeper's threads: no fork afterwards. */
struct demo_counter *demo_counter_open(const struct demo_counter_options *options);
void demo_counter_close(struct demo_counter *counter);

/* The judge's: makes the counter if need be, and the accounts of `workers` workers. */
enum demo_result demo_counter_join(struct demo_counter *counter, int workers);
enum demo_result demo_counter_balance(struct demo_counter *counter, struct demo_balance *out_balance);
/* Puts the sign of this run back if the session that made it expired. Now and then; does not wait for a
 * connection. */
void demo_counter_keep(struct demo_counter *counter);
/* Removes everything if no other run goes on, else only the sign that this one does. */
enum demo_result demo_counter_leave(struct demo_counter *counter);

/* The worker's: reads behind a quorum write, since another server than the lock's may lag behind. */
enum demo_result demo_counter_read(struct demo_counter *counter, struct demo_reading *out_reading);
/* `contender`: the name without which the write must not happen; NULL: none. The outcome is
 * always certain. */
enum demo_result demo_counter_write(struct demo_counter *counter, const struct demo_reading *written,
                                    const char *contender);

#endif
