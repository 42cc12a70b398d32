/*
 * A lock and a semaphore at one path do not count each other, so that one of them must not be there. Each makes its
 * contender first and looks for the other's behind that: of two who come together one at least sees the other, and is
 * refused. Directories that a semaphore has left behind are in nobody's way.
 *
 * Where nothing is to be seen it costs no round trip: a lock's listing shows the directory of leases, and the limit that
 * a lease's flight reads comes with the number of the path's children. Only then is it listed again, with what stands
 * beside; whoever has no guard asks for that at once.
 */
#include <stdlib.h>
#include <string.h>

#include "lock/flight.h"
#include "lock/permit.h"
#include "session/path.h"

#define LEASES "leases"

/* It answers too late for the flight that shows it: the next one asks. */
bool zkl_flight_must_look_beside(struct zkl_attempt *attempt, const struct zkl_reply *listing)
{
    if (!attempt->permit && !attempt->has_looked_beside)
        for (int i = 0; i < listing->child_count && !attempt->must_look_beside; i++)
            attempt->must_look_beside = strcmp(listing->children[i], LEASES) == 0;
    return attempt->must_look_beside;
}

/* The directory of leases; and that of guards, which is there as long as a guard is held. */
void zkl_flight_count_children(struct zkl_attempt *attempt, const struct zkl_reply *limit)
{
    const struct zkl_attempt *guard = attempt->permit->guard;
    int expected = guard && guard->machine.state == ZKL_HELD ? 2 : 1;

    if (limit->code == ZKL_CODE_OK && limit->stat.present_children > expected && !attempt->has_looked_beside)
        attempt->must_look_beside = true;
}

/* What cannot be sent is still to be looked for when the listing comes. */
void zkl_flight_send_beside(struct flight *flight)
{
    struct zkl_attempt *attempt = flight->attempt;
    struct zkl_request list = {.op = ZKL_OP_LIST};

    if (!attempt->must_look_beside)
        return;
    char *leases = attempt->permit ? NULL : zkl_path_join(attempt->path, LEASES);
    list.path = attempt->permit ? attempt->permit->path : leases;
    if (list.path)
        zkl_flight_send_part(flight, ZKL_PART_BESIDE, &list);
    free(leases);
}

static bool counts_us_not(const struct zkl_attempt *attempt, const char *name)
{
    struct zkl_name parsed = zkl_name_parse(name);

    return attempt->permit ? zkl_name_is_contender(parsed) : parsed.kind == ZKL_KIND_LEASE;
}

void zkl_flight_take_beside(struct flight *flight, const struct zkl_reply *reply)
{
    struct zkl_attempt *attempt = flight->attempt;
    enum zkl_answer answer = zkl_flight_answer(reply->code);

    if (answer == ZKL_ANSWER_UNKNOWN)
        return;
    if (answer == ZKL_ANSWER_DENIED || answer == ZKL_ANSWER_REFUSED) {
        zkl_flight_describe(attempt, "listing what stands beside", "READ", reply);
        flight->beside = answer;
        return;
    }
    attempt->must_look_beside = false;
    attempt->has_looked_beside = true;
    for (int i = 0; i < reply->child_count; i++)
        attempt->is_beside_others |= counts_us_not(attempt, reply->children[i]);
}

void zkl_flight_judge_beside(struct flight *flight)
{
    struct zkl_attempt *attempt = flight->attempt;

    if (!attempt->is_beside_others)
        return;
    flight->event.place.is_mixed = true;
    if (attempt->permit)
        zkl_detail_say(&attempt->detail, "%s has a lock's contenders, which do not count those of a semaphore; use another "
                       "path", attempt->permit->path);
    else
        zkl_detail_say(&attempt->detail, "%s is a semaphore in use, whose permits a lock does not exclude; use another "
                       "path, or ask for a permit", attempt->path);
}
