/* ZooKeeper's four-letter words. */
#ifndef ZKLOCK_TEST_FOUR_LETTER_H
#define ZKLOCK_TEST_FOUR_LETTER_H

#include <stdbool.h>
#include <stddef.h>

/* Asks 127.0.0.1:port and reads until the server closes; false when that takes too long or nothing comes.
 * (A server that is just starting may answer and then forget to close.) */
bool four_letter_ask(int port, const char *word, int timeout_ms, char *out_text, size_t size);

#endif
