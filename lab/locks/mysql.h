/* One connection to MySQL or MariaDB. */
#ifndef ZKLOCK_LAB_MYSQL_H
#define ZKLOCK_LAB_MYSQL_H

#include <mysql.h>

#include "../lock.h"

struct mysql_lock {
    struct lab_place place;
    MYSQL *connection;
    char owner[LAB_ID_SIZE];
    long long version; /* for the optimistic one */
};

/* Connects, and makes the table and, with `values`, the lock's row, if they are not there. It looks first: making what is
 * there already would wait for whoever has it locked. The database "lab" exists. NULL: no server. */
struct mysql_lock *mysql_lock_open(const struct lab_place *place, const char *table, const char *columns,
                                   const char *values);
/* 0, or the server's or client's error number. A result is thrown away. */
unsigned mysql_do(struct mysql_lock *lock, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Rows that the last statement changed or found. */
long long mysql_changed(struct mysql_lock *lock);
void mysql_lock_close(void *lock);

#endif
