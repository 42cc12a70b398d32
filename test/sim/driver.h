/*
 * What the lock layer owes the machine, reduced to its obligations:
 *
 *  - One flight an ask, its requests back to back; one event when the last reply has come, with the flight's
 *    number.
 *  - A create takes a fresh token. A token whose create was given up is a zombie: deleted wherever a listing
 *    shows it, and by a sweep, for as long as the session lives.
 *  - Events go by path to the own contender and to the one right ahead that the machine was told of.
 *  - The lease is looked at by the clock in every event; its end is told before it can be earned again.
 *  - A broken connection is told first; then the flight that is out ends as unknown. An expiry ends all.
 */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include "world.h"

/* Why a step broke a promise; NULL: it did not. Cleared by the caller. */
extern const char *driver_violation;

/* moves_taken[from][to]: how often, since the program began. */
extern uint64_t moves_taken[ZKL_STATE_COUNT][ZKL_STATE_COUNT];

/* Hands an event without an answer to a client's machine, and carries out what it asks for. */
void driver_tell(struct world *world, struct client *client, enum zkl_event_type type);
void driver_give_up(struct world *world, struct client *client, enum zkl_outcome why);
/* The oldest reply or event arrives. */
void driver_deliver(struct world *world, struct client *client);
/* The client notices that its connection is broken. */
void driver_notice_cut(struct world *world, struct client *client);
void driver_notice_expiry(struct world *world, struct client *client);
/* The current flight is settled as unknown although its connection stands. */
void driver_time_out(struct world *world, struct client *client);
/* A sweep deletes the zombies that are there. Returns whether there was any that is not being deleted. */
bool driver_needs_sweep(const struct world *world, const struct client *client);
void driver_sweep(struct world *world, struct client *client);
/* Whether nobody tells this waiter when the one ahead is gone: it is looked at now and then. */
bool driver_is_blind(const struct client *client);

#endif
