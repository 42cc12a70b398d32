/* The odd name service and the odd clock. */
#include "support/eventually.h"
#include "support/odd_clock.h"
#include "support/odd_resolver.h"
#include "support/probe.h"
#include "support/process.h"
#include "support/suite.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

enum { PATIENCE_MS = 10000, AN_HOUR_S = 3600 };

/* "127.0.0.1 127.0.0.2 ", or the failure as a number. */
static void ask(const char *host, char *out_text, size_t size)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *entries = NULL;
    int failure = getaddrinfo(host, "2181", &hints, &entries);
    char address[64];

    snprintf(out_text, size, "%s", "");
    if (failure) {
        snprintf(out_text, size, "%d", failure);
        return;
    }
    for (const struct addrinfo *entry = entries; entry; entry = entry->ai_next) {
        CU_ASSERT_EQUAL(getnameinfo(entry->ai_addr, entry->ai_addrlen, address, sizeof(address), NULL, 0,
                                    NI_NUMERICHOST), 0);
        snprintf(out_text + strlen(out_text), size - strlen(out_text), "%s ", address);
    }
    freeaddrinfo(entries);
}

static void expect(const char *host, const char *expected)
{
    char text[256];

    ask(host, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void expect_failure(const char *host, int failure)
{
    char text[32];

    snprintf(text, sizeof(text), "%d", failure);
    expect(host, text);
}

static void odd_names_have_the_addresses_that_were_said(void)
{
    odd_resolver_say("one.example", "127.0.0.1");
    odd_resolver_say("two.example", "127.0.0.1,::1,127.0.0.2");
    expect("one.example", "127.0.0.1 ");
    expect("two.example", "127.0.0.1 ::1 127.0.0.2 ");
    odd_resolver_say("one.example", "127.0.0.3");
    expect("one.example", "127.0.0.3 ");
    CU_ASSERT_EQUAL(odd_resolver_questions("one.example"), 2);
    CU_ASSERT_EQUAL(odd_resolver_questions("two.example"), 1);
}

static void *ask_in_the_background(void *arg)
{
    char text[256];

    ask("slow.example", text, sizeof(text));
    probe_note(arg, strcmp(text, "127.0.0.1 ") == 0);
    return NULL;
}

static void odd_names_fail_and_hang(void)
{
    struct probe answered;
    pthread_t thread;

    probe_init(&answered);
    odd_resolver_say("one.example", "fail");
    odd_resolver_say("slow.example", "hang");
    expect_failure("one.example", EAI_AGAIN);
    expect_failure("unknown.example", EAI_NONAME);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, ask_in_the_background, &answered), 0);
    CU_ASSERT_TRUE(odd_resolver_wait_questions("slow.example", 1, PATIENCE_MS));
    CU_ASSERT_FALSE(probe_wait_count(&answered, 1, 100));
    odd_resolver_say("slow.example", "127.0.0.1");
    CU_ASSERT_TRUE(probe_wait_value(&answered, 1, PATIENCE_MS));
    pthread_join(thread, NULL);
    probe_clear(&answered);
}

static void numeric_hosts_are_not_asked_for(void)
{
    expect("127.0.0.9", "127.0.0.9 ");
    expect("::1", "::1 ");
    CU_ASSERT_EQUAL(odd_resolver_questions("127.0.0.9"), 0);
}

static void preloaded_program_asks_the_odd_name_service(void)
{
    const char *const arguments[] = {"getent", "ahostsv4", "one.example", NULL};
    const char *const environment[] = {odd_resolver_preload(), odd_resolver_place(), NULL};
    const struct process_options options = {.arguments = arguments, .environment = environment};
    struct process *process;

    odd_resolver_say("one.example", "127.1.2.3");
    process = process_start(&options);
    CU_ASSERT_TRUE_FATAL(process_wait(process, PATIENCE_MS));
    CU_ASSERT_PTR_NOT_NULL(strstr(process_output(process, NULL), "127.1.2.3"));
    process_free(process);
    CU_ASSERT_EQUAL(odd_resolver_questions("one.example"), 1);
}

static int64_t wall_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
}

static void wall_clock_steps_and_the_others_run_on(void)
{
    int64_t wall = wall_s(), boot_ms = boottime_ms();
    struct timeval day;

    odd_clock_step(AN_HOUR_S);
    CU_ASSERT_TRUE(wall_s() >= wall + AN_HOUR_S && time(NULL) >= wall + AN_HOUR_S);
    CU_ASSERT_TRUE(gettimeofday(&day, NULL) == 0 && day.tv_sec >= wall + AN_HOUR_S);
    odd_clock_step(-AN_HOUR_S);
    CU_ASSERT_TRUE(wall_s() < wall && time(NULL) < wall);
    CU_ASSERT_TRUE(boottime_ms() >= boot_ms && boottime_ms() < boot_ms + AN_HOUR_S * 1000 / 2);
}

static void preloaded_program_reads_the_odd_clock(void)
{
    const char *const arguments[] = {"date", "+%s", NULL};
    const char *const environment[] = {odd_clock_preload(), odd_clock_place(), NULL};
    const struct process_options options = {.arguments = arguments, .environment = environment};
    struct process *process;
    int64_t wall = wall_s();

    odd_clock_step(AN_HOUR_S);
    process = process_start(&options);
    CU_ASSERT_TRUE_FATAL(process_wait(process, PATIENCE_MS));
    CU_ASSERT_TRUE(atoll(process_output(process, NULL)) >= wall + AN_HOUR_S);
    process_free(process);
}

#define NAMED(test) SUITE_TEST_WITH(test, odd_resolver_start, odd_resolver_end)
#define TIMED(test) SUITE_TEST_WITH(test, odd_clock_start, odd_clock_end)

static const struct suite_test tests[] = {
    NAMED(odd_names_have_the_addresses_that_were_said),
    NAMED(odd_names_fail_and_hang),
    NAMED(numeric_hosts_are_not_asked_for),
    NAMED(preloaded_program_asks_the_odd_name_service),
    TIMED(wall_clock_steps_and_the_others_run_on),
    TIMED(preloaded_program_reads_the_odd_clock),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "odd", tests);
}
