/* Seeded fault: the last answered request is taken for a sign of life that the leader has seen, through whatever
 * server it came. */
#define zkl_lease_answered strict_lease_answered
#include "recipe/lease.c"
#undef zkl_lease_answered

void zkl_lease_answered(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns, bool was_answered);

void zkl_lease_answered(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns, bool was_answered)
{
    strict_lease_answered(lease, sent_ns, now_ns, was_answered);
    if (was_answered && lease->until_ns > now_ns)
        lease->until_ns = larger(lease->until_ns, sent_ns + safe_timeout(lease));
}
