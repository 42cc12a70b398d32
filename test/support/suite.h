/* A thin layer over CUnit: a test program is one table of named tests.
 *
 *     static const struct suite_test tests[] = {
 *         SUITE_TEST(queue_is_ordered_by_number),
 *         SUITE_TEST_WITH(waiter_is_granted_when_holder_leaves, start_server, stop_server),
 *         SUITE_END
 *     };
 *     int main(int argc, char **argv) { return suite_main(argc, argv, "queue", tests); }
 *
 * Arguments: none (run all), the name of one test (run that one), --list (print the names), or
 * --expect NAME... (succeed only if the program's tests are exactly these).
 * Exit status: 0 all passed, 1 something failed or no such test, 77 skipped.
 * CUnit's assertions belong on the test's own thread: callbacks on other threads write to a probe.
 */
#ifndef ZKLOCK_TEST_SUITE_H
#define ZKLOCK_TEST_SUITE_H

#include <CUnit/CUnit.h>

/* set_up runs before the test, and a fatal assertion in it ends the test; tear_down runs always, so it
 * has to accept a half-finished set-up. Either may be NULL. */
struct suite_test {
    const char *name;
    void (*run)(void);
    void (*set_up)(void);
    void (*tear_down)(void);
};

#define SUITE_TEST(function) {#function, function, NULL, NULL}
#define SUITE_TEST_WITH(function, set_up, tear_down) {#function, function, set_up, tear_down}
#define SUITE_END {NULL, NULL, NULL, NULL}

int suite_main(int argc, char **argv, const char *suite, const struct suite_test tests[]);

/* Ends the process as skipped (status 77). Where nothing may be skipped (CI=true or ZKLOCK_REQUIRE_ALL=1
 * in the environment) it is a failure that says so. */
_Noreturn void suite_skip(const char *reason);

/* Ends the process as failed: for fixtures that cannot go on. The message is one line. */
_Noreturn void suite_abandon(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
