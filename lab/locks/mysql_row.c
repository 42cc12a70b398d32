/* MySQL, SELECT ... FOR UPDATE: the row's lock is the lock, for as long as the transaction lives. Source: the chapters
 * on locking reads in MySQL's and MariaDB's manuals. It ends with the connection, at the moment at which the server
 * notices that end. No renewal, no token. */
#include "mysql.h"

#include <mysqld_error.h>
#include <stddef.h>

static void *open_row(const struct lab_place *place)
{
    struct mysql_lock *lock = mysql_lock_open(place, "locked_row", "name VARCHAR(100) PRIMARY KEY", "");

    /* The first statement begins the transaction. */
    if (lock)
        mysql_do(lock, "SET autocommit = 0");
    return lock;
}

static enum lab_result select_row(struct mysql_lock *lock, int limit_s)
{
    unsigned error;

    lab_count_look();
    error = mysql_do(lock, "SELECT name FROM locked_row WHERE name = '%s' FOR UPDATE WAIT %d", lock->place.name, limit_s);
    if (error == 0)
        lab_point("between");
    if (error == 0)
        return LAB_OK;
    mysql_do(lock, "ROLLBACK");
    return error == ER_LOCK_WAIT_TIMEOUT ? LAB_BUSY : LAB_FAILED;
}

static enum lab_result try_row(void *lock, uint64_t *out_token)
{
    *out_token = 0;
    return select_row(lock, 0);
}

static enum lab_result acquire_row(void *lock, int limit_ms, uint64_t *out_token)
{
    *out_token = 0;
    return select_row(lock, (limit_ms + 999) / 1000);
}

static enum lab_result release_row(void *lock)
{
    return mysql_do(lock, "COMMIT") == 0 ? LAB_OK : LAB_LOST;
}

const struct lab_kind lab_mysql_row = {
    "mysql-row", open_row, try_row, acquire_row, release_row, mysql_lock_close, NULL};
