/* What a process of the chaos run does under a lock, for the judge to see: it records when it is inside, and it writes
 * to a resource that checks fencing tokens. Everything is kept in one directory that all hosts share.
 *
 *     LOCK.MODE       start, alive and stop of each critical section, as in support/critical.h
 *     LOCK.resource   the highest tokens that the resource has seen
 *     LOCK.writes     its log: "accepted|refused MODE BEFORE AFTER PID TOKEN", the clock before and after the decision
 */
#ifndef ZKLOCK_TEST_CHAOS_SECTION_H
#define ZKLOCK_TEST_CHAOS_SECTION_H

#include <stdbool.h>
#include <stdint.h>

enum section_mode { SECTION_EXCLUSIVE, SECTION_SHARED, SECTION_MODES };

struct section_place {
    int records[SECTION_MODES];
    int writes;
    struct section_resource *resource;
};

const char *section_mode_name(enum section_mode mode);

/* Ends the process where it cannot. lock: the last component of its path. */
void section_place_open(struct section_place *place, const char *directory, const char *lock);

/* mark: "start", "alive" or "stop"; at what time the caller claims to have been inside. */
void section_mark(const struct section_place *place, enum section_mode mode, const char *mark, int64_t clock_ns,
                  uint64_t token);

/* Offers a write to the resource without asking whether the lock is still held. */
bool section_write(const struct section_place *place, enum section_mode mode, uint64_t token);

#endif
