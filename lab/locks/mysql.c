#include "mysql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_LIMIT_S = 130 };

static bool has_row(struct mysql_lock *lock, const char *table)
{
    return mysql_do(lock, "SELECT name FROM %s WHERE name = '%s'", table, lock->place.name) == 0 &&
           mysql_changed(lock) > 0;
}

static bool make_missing(struct mysql_lock *lock, const char *table, const char *columns, const char *values)
{
    if (mysql_do(lock, "SELECT name FROM %s LIMIT 0", table) != 0 &&
        mysql_do(lock, "CREATE TABLE IF NOT EXISTS %s (%s) ENGINE=InnoDB", table, columns) != 0)
        return false;
    return !values || has_row(lock, table) ||
           mysql_do(lock, "INSERT IGNORE INTO %s VALUES ('%s'%s)", table, lock->place.name, values) == 0;
}

struct mysql_lock *mysql_lock_open(const struct lab_place *place, const char *table, const char *columns,
                                   const char *values)
{
    struct mysql_lock *lock = lab_alloc(sizeof(*lock));
    const char *servers = place->servers;
    unsigned limit_s = ANSWER_LIMIT_S;
    char host[64];
    int port;

    lock->place = *place;
    lab_make_id(lock->owner);
    lock->connection = mysql_init(NULL);
    mysql_options(lock->connection, MYSQL_OPT_READ_TIMEOUT, &limit_s);
    if (lab_next_server(&servers, host, &port) &&
        mysql_real_connect(lock->connection, host, "root", "", "lab", (unsigned)port, NULL, 0) &&
        make_missing(lock, table, columns, values))
        return lock;
    mysql_lock_close(lock);
    return NULL;
}

unsigned mysql_do(struct mysql_lock *lock, const char *format, ...)
{
    char statement[512];
    va_list arguments;
    MYSQL_RES *rows;

    va_start(arguments, format);
    vsnprintf(statement, sizeof(statement), format, arguments);
    va_end(arguments);
    if (mysql_query(lock->connection, statement) != 0)
        return mysql_errno(lock->connection);
    rows = mysql_store_result(lock->connection);
    mysql_free_result(rows);
    return mysql_errno(lock->connection);
}

long long mysql_changed(struct mysql_lock *lock)
{
    return (long long)mysql_affected_rows(lock->connection);
}

void mysql_lock_close(void *arg)
{
    struct mysql_lock *lock = arg;

    mysql_close(lock->connection);
    free(lock);
}
