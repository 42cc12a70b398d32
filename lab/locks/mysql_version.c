/* MySQL, a version column: nobody waits and nobody is kept out; a write succeeds only where the version is still the one
 * that was read. Source: optimistic locking as the articles and the mappers (JPA's @Version) have it. It guards the row
 * that carries the version, and nothing else: here that row is the resource. */
#include "mysql.h"

#include <stdio.h>
#include <stdlib.h>

static void *open_version(const struct lab_place *place)
{
    return mysql_lock_open(place, "versioned_row",
                           "name VARCHAR(100) PRIMARY KEY, value BIGINT NOT NULL, version BIGINT NOT NULL", ", 0, 0");
}

static enum lab_result try_version(void *lock, uint64_t *out_token)
{
    (void)lock;
    lab_count_look();
    *out_token = 0;
    lab_point("between");
    return LAB_OK;
}

static enum lab_result acquire_version(void *lock, int limit_ms, uint64_t *out_token)
{
    (void)limit_ms;
    return try_version(lock, out_token);
}

static enum lab_result release_version(void *lock)
{
    (void)lock;
    return LAB_OK;
}

static bool read_row(void *arg, int64_t *out_value)
{
    struct mysql_lock *lock = arg;
    char statement[256];
    MYSQL_RES *rows;
    MYSQL_ROW row;

    snprintf(statement, sizeof(statement), "SELECT value, version FROM versioned_row WHERE name = '%s'",
             lock->place.name);
    if (mysql_query(lock->connection, statement) != 0)
        return false;
    rows = mysql_store_result(lock->connection);
    row = rows ? mysql_fetch_row(rows) : NULL;
    if (row) {
        *out_value = atoll(row[0]);
        lock->version = atoll(row[1]);
    }
    mysql_free_result(rows);
    return row;
}

static bool write_row(void *arg, int64_t value)
{
    struct mysql_lock *lock = arg;

    return mysql_do(lock, "UPDATE versioned_row SET value = %lld, version = version + 1 WHERE name = '%s' AND version = %lld",
                    (long long)value, lock->place.name, lock->version) == 0 &&
           mysql_changed(lock) == 1;
}

static const struct lab_row row = {read_row, write_row};
const struct lab_kind lab_mysql_version = {
    "mysql-version", open_version, try_version, acquire_version, release_version, mysql_lock_close, &row};
