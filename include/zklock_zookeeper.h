/*
 * zklock_zookeeper.h - for programs that keep data in ZooKeeper itself and guard them with a lock
 *
 * A holder that was frozen may believe for a while that it still holds. Data in ZooKeeper can be written so that the
 * server refuses it: all of a multi is done or nothing, so put a check of the own contender first. Once the contender is
 * gone, and not before that can anybody else hold the lock, the whole multi fails:
 *
 *     char path[ZKLOCK_HELD_PATH_SIZE];
 *     zoo_op_t ops[2];
 *     zoo_op_result_t results[2];
 *     zklock_status status = zklock_check_op_init(lock, path, sizeof path, &ops[0]);
 *     if (status == ZKLOCK_OK) {
 *         zoo_set_op_init(&ops[1], "/app/state", data, size, -1, NULL);
 *         int code = zoo_multi(handle, 2, ops, results);
 *         if (code != ZOK && zklock_check_has_failed(&results[0]))
 *             ...                                    // the lock is lost, and nothing was written
 *     }
 *
 * `handle` is the program's own, of the same ensemble and with the same chroot as the lock's session; it need not be the
 * same ZooKeeper session. Nothing here is a function of the library: it needs ZooKeeper's header, and the program links
 * libzookeeper_mt or _st itself, as it does for its handle.
 */
#ifndef ZKLOCK_ZOOKEEPER_H
#define ZKLOCK_ZOOKEEPER_H

#include <zookeeper/zookeeper.h>

#include <zklock.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes the operation that fails unless the contender of a held lock is still there.
 *
 * path       room for the contender's path, of ZKLOCK_HELD_PATH_SIZE bytes; the operation points to it, so it has to
 *            live until the multi has been sent.
 * blocking   no. threads: any.
 * returns    as zklock_held_path().
 * since      0.1
 */
static inline zklock_status zklock_check_op_init(zklock *lock, char *path, size_t size, zoo_op_t *out_op)
{
    zklock_status status = zklock_held_path(lock, path, size);

    /* Any version: who asks to let go, and stamps, write the contender. Its name is of this acquire alone. */
    if (status == ZKLOCK_OK)
        zoo_check_op_init(out_op, path, -1);
    return status;
}

/* Whether it was this operation that failed, given its result from a multi that failed: the contender is gone, and the lock
 * with it. */
static inline bool zklock_check_has_failed(const zoo_op_result_t *result)
{
    return result->err == ZNONODE;
}

#ifdef __cplusplus
}
#endif

#endif
