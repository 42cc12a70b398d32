/* Seeded fault: each CONNECTED begins a whole lease, counted from the moment at which its callback ran. */
#define zkl_lease_connected strict_lease_connected
#include "recipe/lease.c"
#undef zkl_lease_connected

void zkl_lease_connected(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns);

void zkl_lease_connected(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns)
{
    strict_lease_connected(lease, now_ns, timeout_ns);
    if (lease->until_ns > now_ns)
        lease->until_ns = now_ns + safe_timeout(lease);
}
