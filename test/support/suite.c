#include "support/suite.h"

#include <CUnit/Basic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_SKIPPED = 77 };

/* CUnit hands no argument to a test function; there is one suite a process. */
static const struct suite_test *suite_tests;

static const struct suite_test *find_test(const struct suite_test tests[], const char *name)
{
    for (const struct suite_test *test = tests; test->name; test++) {
        if (strcmp(test->name, name) == 0)
            return test;
    }
    return NULL;
}

static const struct suite_test *current_test(void)
{
    return find_test(suite_tests, CU_get_current_test()->pName);
}

/* Set-up runs in here, since only here a fatal assertion has a place to jump to. */
static void run_current(void)
{
    const struct suite_test *test = current_test();

    if (test->set_up)
        test->set_up();
    test->run();
}

static void tear_down_current(void)
{
    const struct suite_test *test = current_test();

    if (test->tear_down)
        test->tear_down();
}

/* Leak checkers have nothing to say about a process that stops in mid-test. */
static _Noreturn void end_process(int status)
{
    fflush(NULL);
    _exit(status);
}

static bool may_skip(void)
{
    const char *ci = getenv("CI");
    const char *all = getenv("ZKLOCK_REQUIRE_ALL");

    return !(ci && strcmp(ci, "true") == 0) && !(all && strcmp(all, "1") == 0);
}

_Noreturn void suite_skip(const char *reason)
{
    if (!may_skip()) {
        printf("\nfailed: nothing may be skipped here (CI=true or ZKLOCK_REQUIRE_ALL=1), but: %s\n", reason);
        end_process(1);
    }
    printf("\nskipped: %s\n", reason);
    /* A failure seen before the skip still counts. */
    end_process(CU_get_number_of_failures() > 0 ? 1 : STATUS_SKIPPED);
}

_Noreturn void suite_abandon(const char *format, ...)
{
    va_list arguments;

    printf("\nfailed: ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    end_process(1);
}

static int list_tests(const struct suite_test tests[])
{
    for (const struct suite_test *test = tests; test->name; test++)
        puts(test->name);
    return 0;
}

static bool is_among(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* Compares the program's table with the names that CMake registered. */
static int compare_tests(const struct suite_test tests[], int count, char **names)
{
    int differences = 0;

    for (const struct suite_test *test = tests; test->name; test++) {
        if (!is_among(test->name, count, names)) {
            printf("in the program, but not listed in CMakeLists.txt: %s\n", test->name);
            differences++;
        }
    }
    for (int i = 0; i < count; i++) {
        if (!find_test(tests, names[i])) {
            printf("listed in CMakeLists.txt, but not in the program: %s\n", names[i]);
            differences++;
        }
    }
    return differences == 0 ? 0 : 1;
}

static void require_distinct_names(const struct suite_test tests[])
{
    for (const struct suite_test *test = tests; test->name; test++) {
        if (find_test(tests, test->name) != test)
            suite_abandon("two tests are named %s", test->name);
    }
}

static void register_tests(CU_pSuite suite, const struct suite_test tests[], const char *only)
{
    for (const struct suite_test *test = tests; test->name; test++) {
        if (only && strcmp(only, test->name) != 0)
            continue;
        if (!CU_add_test(suite, test->name, run_current))
            suite_abandon("CUnit refuses the test %s: %s", test->name, CU_get_error_msg());
    }
}

static int run_tests(const char *name, const struct suite_test tests[], const char *only)
{
    CU_pSuite suite;
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS)
        suite_abandon("CUnit does not start: %s", CU_get_error_msg());
    suite = CU_add_suite_with_setup_and_teardown(name, NULL, NULL, NULL, tear_down_current);
    if (!suite)
        suite_abandon("CUnit refuses the suite %s: %s", name, CU_get_error_msg());
    suite_tests = tests;
    register_tests(suite, tests, only);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    if (CU_basic_run_tests() != CUE_SUCCESS)
        suite_abandon("CUnit does not run: %s", CU_get_error_msg());
    failures = CU_get_number_of_failure_records();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}

int suite_main(int argc, char **argv, const char *suite, const struct suite_test tests[])
{
    const char *only = argc > 1 ? argv[1] : NULL;

    /* What was printed before a crash should be seen. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    require_distinct_names(tests);
    if (only && strcmp(only, "--list") == 0)
        return list_tests(tests);
    if (only && strcmp(only, "--expect") == 0)
        return compare_tests(tests, argc - 2, argv + 2);
    if (only && !find_test(tests, only))
        suite_abandon("%s has no test named %s (try --list)", suite, only);
    return run_tests(suite, tests, only);
}
