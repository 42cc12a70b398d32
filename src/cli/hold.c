#include "hold.h"

#include <stdlib.h>

zklock_status hold_init(struct hold *hold, zklock_session *session, int most)
{
    zklock_status status;

    *hold = (struct hold){.locks = calloc((size_t)most, sizeof(zklock *)), .fd = -1};
    status = hold->locks ? zklock_multi_new(session, &hold->multi) : ZKLOCK_NO_MEMORY;
    return status == ZKLOCK_OK ? zklock_multi_fd(hold->multi, &hold->fd) : status;
}

zklock_status hold_add(struct hold *hold, const char *path, const zklock_options *options)
{
    zklock_status status = zklock_multi_add(hold->multi, path, options);

    if (status == ZKLOCK_OK)
        hold->locks[hold->count++] = zklock_multi_lock(hold->multi, path);
    return status;
}

void hold_clear(struct hold *hold)
{
    zklock_multi_free(hold->multi);
    free(hold->locks);
    *hold = (struct hold){.fd = -1};
}

int hold_current(const struct hold *hold)
{
    const zklock *current = zklock_multi_current(hold->multi);
    int at = hold->count - 1;

    while (at > 0 && hold->locks[at] != current)
        at--;
    return at;
}

unsigned hold_revocations(const struct hold *hold)
{
    unsigned revocations = 0;

    for (int i = 0; i < hold->count; i++)
        revocations += zklock_revocations(hold->locks[i]);
    return revocations;
}
