/* A name service that fails, hangs and changes its answers.
 *
 * A file says what it answers; the odd getaddrinfo (odd_getaddrinfo.c) reads it at every question. It takes the C
 * library's place in a test program that links zklock_test_odd_resolver, and in any other program by preloading.
 * Numeric hosts are none of its business. A function that cannot do its work ends the test program. */
#ifndef ZKLOCK_TEST_ODD_RESOLVER_H
#define ZKLOCK_TEST_ODD_RESOLVER_H

#include <stdbool.h>

/* From here on this program, and those that it starts with the environment below, ask the odd name service, which
 * knows nobody yet. */
void odd_resolver_start(void);
void odd_resolver_end(void);

/* What is known of a host: addresses with commas between them; "fail": the name service does not answer; "hang": no
 * answer until something else is said of this host. It is in force when the function returns. */
void odd_resolver_say(const char *host, const char *answer);

/* "LD_PRELOAD=..." and where the file is, for a program that is started; valid until odd_resolver_end(). */
const char *odd_resolver_preload(void);
const char *odd_resolver_place(void);

/* How often a host has been asked for; and waiting until it has been that often. */
int odd_resolver_questions(const char *host);
bool odd_resolver_wait_questions(const char *host, int count, int timeout_ms);

#endif
