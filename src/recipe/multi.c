#include "recipe/multi.h"

#include <stdbool.h>

/* The first part that stands so; or `count`. */
static int first(const enum zkl_part *parts, int count, enum zkl_part how)
{
    int at = 0;

    while (at < count && parts[at] != how)
        at++;
    return at;
}

static int count_of(const enum zkl_part *parts, int count, enum zkl_part how)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        found += parts[i] == how;
    return found;
}

/* Nothing has failed and nothing was lost. */
static struct zkl_multi_plan plan_taking(const enum zkl_part *parts, int count)
{
    int behind = first(parts, count, ZKL_PART_BEHIND);
    int idle = count_of(parts, count, ZKL_PART_IDLE);

    if (behind < count) {
        int beyond = count - behind - 1;
        bool is_alone = count_of(parts + behind + 1, beyond, ZKL_PART_IDLE) == beyond;
        return (struct zkl_multi_plan){is_alone ? ZKL_MULTI_WAIT : ZKL_MULTI_STAND, behind};
    }
    if (idle == count)
        return (struct zkl_multi_plan){ZKL_MULTI_START_ALL, 0};
    if (idle == 0 && count_of(parts, count, ZKL_PART_HELD) == count)
        return (struct zkl_multi_plan){ZKL_MULTI_HELD, count - 1};
    /* The rest one by one: each of them was taken by somebody before. */
    if (idle > 0 && first(parts, count, ZKL_PART_ASKING) == count)
        return (struct zkl_multi_plan){ZKL_MULTI_START, first(parts, count, ZKL_PART_IDLE)};
    return (struct zkl_multi_plan){ZKL_MULTI_WAIT, first(parts, count, ZKL_PART_ASKING)};
}

struct zkl_multi_plan zkl_multi_plan(const enum zkl_part *parts, int count)
{
    int failed = first(parts, count, ZKL_PART_FAILED);
    int lost = first(parts, count, ZKL_PART_LOST);

    if (failed < count)
        return (struct zkl_multi_plan){ZKL_MULTI_FAIL, failed};
    if (lost < count)
        return (struct zkl_multi_plan){ZKL_MULTI_GO_BACK, lost};
    return plan_taking(parts, count);
}
