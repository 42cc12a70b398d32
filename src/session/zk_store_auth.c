/* Credentials on a connection of libzookeeper's, and what they are good for: the rights on what we create. */
#include <zookeeper/zookeeper.h>

#include "session/zk_store_internal.h"

enum { RIGHT_READ = 1, ALL_RIGHTS = 31 };

/*
 * The server takes the credentials in before any request behind them, so that its answer says that it did. One that does
 * not accept them says so and hangs up; libzookeeper then gives the handle up and tells its watcher.
 *
 * @thread the store's
 */
static void on_answered(int raw_code, const struct Stat *stat, const void *data)
{
    (void)stat;
    if (raw_code == ZOK || raw_code == ZNOAUTH || raw_code == ZNONODE)
        zkl_zk_store_report_connected((struct zkl_store *)data);
}

/*
 * libzookeeper sends them again at each reconnect, ahead of everything else, and keeps a copy until the end of the handle
 * that it frees unwiped. A completion of zoo_add_auth() would run with libzookeeper's own locks held: there is none.
 */
void zkl_zk_store_authenticate(struct zkl_store *store, zhandle_t *handle)
{
    struct zkl_credentials *credentials = &store->credentials;

    /* Handed over once. When that fails the connection is gone already, and the next one has its turn. */
    if (credentials->scheme) {
        if (zoo_add_auth(handle, credentials->scheme, credentials->bytes, (int)credentials->size, NULL, NULL) != ZOK)
            return;
        zkl_credentials_clear(credentials);
    }
    (void)zoo_aexists(handle, "/", 0, on_answered, store);
}

const struct ACL_vector *zkl_zk_store_acl(zklock_acl acl)
{
    static char world[] = "world", anyone[] = "anyone", auth[] = "auth", nobody_else[] = "";
    static struct ACL entries[] = {{ALL_RIGHTS, {auth, nobody_else}}, {RIGHT_READ, {world, anyone}}};
    static const struct ACL_vector creator = {1, entries}, creator_read = {2, entries};

    switch (acl) {
    case ZKLOCK_ACL_OPEN:
        break;
    case ZKLOCK_ACL_CREATOR:
        return &creator;
    case ZKLOCK_ACL_CREATOR_READ:
        return &creator_read;
    }
    return &ZOO_OPEN_ACL_UNSAFE;
}
