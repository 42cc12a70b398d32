/*
 * Several locks as one, all or nothing: what to do next, as a pure function of how each of them stands.
 *
 * Everybody has one order of the paths. All contenders go out in one flight. Whoever finds somebody ahead keeps his place
 * at the first path where that is so, and none beyond it; so he waits for a path while he has contenders on paths before
 * it alone. Of takers who wait for each other in a circle, the one who waits for the last path of them would be waited
 * for at a path that he has no contender on: there is no circle. A contender whose place is not known yet waits for the
 * server alone, and may stand anywhere.
 */
#ifndef ZKL_MULTI_H
#define ZKL_MULTI_H

enum zkl_part {
    ZKL_PART_IDLE,   /* no contender, or one that is being removed */
    ZKL_PART_ASKING, /* its place is not known, or it stands first and lacks a lease */
    ZKL_PART_BEHIND, /* somebody is ahead */
    ZKL_PART_HELD,
    ZKL_PART_LOST,   /* was held */
    ZKL_PART_FAILED, /* its acquire ended without the lock */
};

enum zkl_multi_step {
    ZKL_MULTI_WAIT,
    ZKL_MULTI_START_ALL,
    ZKL_MULTI_START,     /* `part` */
    ZKL_MULTI_STAND,     /* wait at `part`: every contender beyond it goes, held or not */
    ZKL_MULTI_GO_BACK,   /* `part` was lost: let go of all, and begin again */
    ZKL_MULTI_FAIL,      /* as `part` did */
    ZKL_MULTI_HELD,
};

struct zkl_multi_plan {
    enum zkl_multi_step step;
    int part;
};

/* Of at least one part, in the order of the paths. */
struct zkl_multi_plan zkl_multi_plan(const enum zkl_part *parts, int count);

#endif
