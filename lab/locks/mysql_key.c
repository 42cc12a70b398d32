/* MySQL, a row under a unique key: whoever inserts it has the lock, and deletes it afterwards. Source: the articles on
 * locks in a database, with the owner in the row as they advise. Nothing ends it but its owner: no time to live, no
 * renewal, no token. */
#include "mysql.h"

#include <mysqld_error.h>
#include <stddef.h>

static void *open_key(const struct lab_place *place)
{
    return mysql_lock_open(place, "unique_row", "name VARCHAR(100) NOT NULL UNIQUE, owner VARCHAR(40) NOT NULL", NULL);
}

static enum lab_result try_key(void *arg, uint64_t *out_token)
{
    struct mysql_lock *lock = arg;
    unsigned error;

    *out_token = 0;
    lab_count_look();
    error = mysql_do(lock, "INSERT INTO unique_row VALUES ('%s', '%s')", lock->place.name, lock->owner);
    if (error == 0)
        lab_point("between");
    return error == 0 ? LAB_OK : error == ER_DUP_ENTRY ? LAB_BUSY : LAB_FAILED;
}

static enum lab_result acquire_key(void *lock, int limit_ms, uint64_t *out_token)
{
    return lab_poll(&lab_mysql_key, lock, limit_ms, out_token);
}

static enum lab_result release_key(void *arg)
{
    struct mysql_lock *lock = arg;

    if (mysql_do(lock, "DELETE FROM unique_row WHERE name = '%s' AND owner = '%s'", lock->place.name, lock->owner) != 0)
        return LAB_FAILED;
    return mysql_changed(lock) == 1 ? LAB_OK : LAB_LOST;
}

const struct lab_kind lab_mysql_key = {
    "mysql-key", open_key, try_key, acquire_key, release_key, mysql_lock_close, NULL};
