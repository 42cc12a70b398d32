/* Seeded fault: a write that is answered after a lapse makes the session as good as new. */
#define zkl_lease_wrote strict_lease_wrote
#include "recipe/lease.c"
#undef zkl_lease_wrote

void zkl_lease_wrote(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns);

void zkl_lease_wrote(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns)
{
    strict_lease_wrote(lease, sent_ns, now_ns);
    if (lease->until_ns == 0 && lease->timeout_ns > 0)
        lease->until_ns = sent_ns + safe_timeout(lease);
}
