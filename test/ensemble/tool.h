/* Other people's programs, run to their end: docker, ip, iptables. What they say on standard error is seen in the
 * test's output. */
#ifndef ZKLOCK_TEST_ENSEMBLE_TOOL_H
#define ZKLOCK_TEST_ENSEMBLE_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Runs argv[0] with these arguments (NULL ends them) and takes what it prints, without the last line's end. Returns
 * whether it ended with 0. `out_text` may be NULL. */
bool tool_run(const char *const argv[], char *out_text, size_t size);
/* The same, without a word on standard error. */
bool tool_run_quietly(const char *const argv[], char *out_text, size_t size);

/* tool_works("docker", "info"): whether that ends with 0, without a word. */
#define tool_works(...) tool_run_quietly((const char *const[]){__VA_ARGS__, NULL}, NULL, 0)
/* Runs it, and ends the test program if it fails. */
#define tool_must(...) tool_require((const char *const[]){__VA_ARGS__, NULL}, NULL, 0)
#define tool_ask(out_text, size, ...) tool_require((const char *const[]){__VA_ARGS__, NULL}, out_text, size)

void tool_require(const char *const argv[], char *out_text, size_t size);

#endif
