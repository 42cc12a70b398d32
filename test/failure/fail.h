/*
 * Which of the calls that can fail do fail. Every such call of the library has a position, counted from 1 since
 * fail_from(); those at the chosen positions fail. Any thread.
 */
#ifndef ZKLOCK_TEST_FAIL_H
#define ZKLOCK_TEST_FAIL_H

#include <stdbool.h>
#include <stddef.h>

/* A spell that lasts until fail_stop(). */
#define FAIL_FOR_EVER 1000000000L

/* The calls number `position` to `position + count - 1` from now on fail. */
void fail_from(long position, long count);
/* And one more, that much after the first of them. */
void fail_again_after(long distance);
/* Nothing fails any more, and nothing is counted. */
void fail_stop(void);
/* Since fail_from(): calls that could fail, and calls that did. */
long fail_calls(void);
long fail_hits(void);
/* The first call that failed since fail_from(): "malloc, position 12, program+0x1234". Static, for the test's thread. */
const char *fail_text(void);

/* Asked by whatever stands for a call that can fail. `site` is its return address; NULL: none. */
bool fail_is_due(const char *what, const void *site);

/* ---- what the library has allocated and not freed yet */

void ledger_add(const void *memory, const char *what, const void *site);
/* Of memory that is not in it, too: the system's own. */
void ledger_remove(const void *memory);
long ledger_count(void);
/* Prints each piece, and forgets it. */
void ledger_tell(void);

#endif
