/* Running programs, the critical-section checker, the observer. */
#include "support/critical.h"
#include "support/directory.h"
#include "support/observer.h"
#include "support/process.h"
#include "support/suite.h"
#include "support/zk_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 20000 };

static char *directory;
static char file[4096];
static struct process *process;
static struct zk_server *server;
static struct observer *observer;

static void make_file(void)
{
    directory = directory_make("zklock-tools");
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    snprintf(file, sizeof(file), "%s/critical", directory);
}

static void clear_all(void)
{
    process_free(process);
    process = NULL;
    observer_close(observer);
    observer = NULL;
    zk_server_free(server);
    server = NULL;
    if (directory)
        directory_remove(directory);
    free(directory);
    directory = NULL;
}

static void start_server(void)
{
    server = zk_server_start(NULL);
    observer = observer_open(zk_server_address(server), 10000);
}

static struct critical_verdict judge(void)
{
    struct critical_verdict verdict = {.problem = "not judged"};

    CU_ASSERT_TRUE(critical_judge(file, &verdict));
    return verdict;
}

static void write_record(const char *lines)
{
    FILE *record = fopen(file, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(record);
    fputs(lines, record);
    fclose(record);
}

static void judge_finds_a_planted_overlap(void)
{
    struct critical_verdict verdict;

    write_record("start 7 1000 5\nstart 8 1900 6\nstop 7 2000 5\nstop 8 2500 6\n");
    verdict = judge();
    CU_ASSERT_EQUAL(verdict.sections, 2);
    CU_ASSERT_EQUAL(verdict.overlaps, 1);
    CU_ASSERT_FALSE(critical_is_clean(&verdict));
}

static void judge_takes_the_last_sign_of_life_of_a_killed_child(void)
{
    struct critical_verdict verdict;

    write_record("start 7 1000 5\nalive 7 1500 5\nstart 8 1499 6\nstop 8 2500 6\n");
    verdict = judge();
    CU_ASSERT_EQUAL(verdict.overlaps, 1);
    CU_ASSERT_EQUAL(verdict.unfinished, 1);
    write_record("start 7 1000 5\nalive 7 1500 5\nstart 8 1500 6\nstop 8 2500 6\n"
                 "start 7 2600 9\nstop 7 2700 9\n");
    verdict = judge();
    CU_ASSERT_EQUAL(verdict.sections, 3);
    CU_ASSERT_TRUE(critical_is_clean(&verdict));
}

static void judge_finds_an_overlap_with_one_long_before(void)
{
    struct critical_verdict verdict;

    write_record("start 1 1000 1\nstart 2 2000 2\nstop 2 3000 2\nstart 3 4000 3\n"
                 "stop 3 4500 3\nstop 1 9000 1\n");
    verdict = judge();
    CU_ASSERT_EQUAL(verdict.overlaps, 2);
}

static void judge_finds_tokens_that_do_not_rise(void)
{
    struct critical_verdict verdict;

    write_record("start 1 10 5\nstop 1 20 5\nstart 2 30 5\nstop 2 40 5\nstart 3 50 4\nstop 3 60 4\n"
                 "start 4 70 -\nstop 4 80 -\n");
    verdict = judge();
    CU_ASSERT_EQUAL(verdict.repeated_tokens, 1);
    CU_ASSERT_EQUAL(verdict.falling_tokens, 1);
    CU_ASSERT_EQUAL(verdict.missing_tokens, 1);
    CU_ASSERT_FALSE(critical_is_clean(&verdict));
}

static void judge_counts_lines_without_sense(void)
{
    struct critical_verdict verdict;

    write_record("start 1 10 5\nstop 2 20 5\nstart 3 x 5\nstart 4 30 five\n"
                 "stop 1 40 5\nstop 1 50 5\nstart 5 60");
    verdict = judge();
    CU_ASSERT_EQUAL(verdict.sections, 1);
    CU_ASSERT_EQUAL(verdict.malformed_lines, 5);
    CU_ASSERT_FALSE(critical_is_clean(&verdict));
}

static void critical_section_records_its_start_and_stop(void)
{
    const char *arguments[] = {critical_program(), file, "20", "5", NULL};
    const char *environment[] = {"ZKLOCK_TOKEN=4711", NULL};
    const struct process_options options = {.arguments = arguments, .environment = environment};
    struct critical_record record;

    process = process_start(&options);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 0);
    CU_ASSERT_TRUE_FATAL(critical_read(file, &record));
    CU_ASSERT_EQUAL_FATAL(record.count, 1);
    CU_ASSERT_EQUAL(record.sections[0].id, process_pid(process));
    CU_ASSERT_EQUAL(record.sections[0].token, 4711);
    CU_ASSERT_TRUE(record.sections[0].is_finished);
    CU_ASSERT_TRUE(record.sections[0].end_ns - record.sections[0].start_ns >= 20000000);
    critical_record_clear(&record);
}

static void killed_critical_section_is_unfinished(void)
{
    struct critical_verdict verdict;

    process = process_run(critical_program(), file, "600000", "5", NULL);
    CU_ASSERT_TRUE(critical_wait_sections(file, 1, PATIENCE_MS));
    process_signal(process, SIGKILL);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_end_signal(process), SIGKILL);
    verdict = judge();
    CU_ASSERT_EQUAL(verdict.unfinished, 1);
    CU_ASSERT_EQUAL(verdict.missing_tokens, 1);
}

static void wrong_times_are_refused_before_anything_is_written(void)
{
    process = process_run(critical_program(), file, "2.5", NULL);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 64);
    CU_ASSERT_EQUAL(judge().sections, 0);
}

static void streams_status_and_environment_arrive(void)
{
    const char *arguments[] = {"sh", "-c", "cat; echo \"$COLOUR,${HOME-unset}\" >&2; exit 7", NULL};
    const char *environment[] = {"COLOUR=green", "HOME", NULL};
    const struct process_options options = {.arguments = arguments, .environment = environment,
                                            .input = "a\0b", .input_length = 3};
    size_t length = 0;

    process = process_start(&options);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 7);
    CU_ASSERT_EQUAL(memcmp(process_output(process, &length), "a\0b", 4), 0);
    CU_ASSERT_EQUAL(length, 3);
    CU_ASSERT_STRING_EQUAL(process_error(process, NULL), "green,unset\n");
}

static void large_output_does_not_block(void)
{
    size_t length = 0;

    process = process_run("head", "-c", "10000000", "/dev/zero", NULL);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    process_output(process, &length);
    CU_ASSERT_EQUAL(length, 10000000);
}

static void only_named_descriptors_are_inherited(void)
{
    FILE *kept = tmpfile();
    FILE *other = tmpfile();
    const char *arguments[] = {"sh", "-c", "ls /proc/self/fd | wc -l", NULL};
    struct process_options options = {.arguments = arguments};

    CU_ASSERT_TRUE_FATAL(kept && other);
    options.kept[0] = fileno(kept);
    process = process_start(&options);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    /* Three streams, the kept one, and the one by which ls reads the directory. */
    CU_ASSERT_STRING_EQUAL(process_output(process, NULL), "5\n");
    fclose(kept);
    fclose(other);
}

static void terminal_turns_a_key_into_a_signal(void)
{
    const char *arguments[] = {"sh", "-c", "test -t 0 && test -t 1 && echo ready; exec sleep 600", NULL};
    const struct process_options options = {.arguments = arguments, .is_on_terminal = true};

    process = process_start(&options);
    CU_ASSERT_TRUE(process_wait_output(process, "ready", PATIENCE_MS));
    process_type(process, "\x03");
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_end_signal(process), SIGINT);
}

static void stopped_program_is_seen_and_goes_on(void)
{
    process = process_run("cat", "/dev/zero", NULL);
    process_signal(process, SIGSTOP);
    CU_ASSERT_TRUE(process_wait_stopped(process, PATIENCE_MS));
    CU_ASSERT_TRUE(process_is_running(process));
    process_signal(process, SIGTERM);
    process_signal(process, SIGCONT);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_end_signal(process), SIGTERM);
}

static void observer_lists_in_order_of_creation(void)
{
    struct observed_list list = {0};
    char created[OBSERVER_PATH_SIZE];

    CU_ASSERT_EQUAL(observer_create(observer, "/d", NULL, ZOO_CONTAINER, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(observer, "/d/z", "payload", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(observer, "/d/a-", NULL, ZOO_EPHEMERAL | ZOO_SEQUENCE, created), ZOK);
    CU_ASSERT_STRING_EQUAL(created, "/d/a-0000000001");
    CU_ASSERT_EQUAL_FATAL(observer_list(observer, "/d", &list), ZOK);
    CU_ASSERT_EQUAL_FATAL(list.count, 2);
    CU_ASSERT_STRING_EQUAL(list.nodes[0].name, "z");
    CU_ASSERT_STRING_EQUAL(list.nodes[0].data, "payload");
    CU_ASSERT_EQUAL(list.nodes[0].owner, 0);
    CU_ASSERT_EQUAL(list.nodes[1].owner, observer_session_id(observer));
    CU_ASSERT_EQUAL(list.nodes[1].data_length, -1);
    CU_ASSERT_TRUE(list.nodes[0].czxid < list.nodes[1].czxid);
    observed_list_clear(&list);
    CU_ASSERT_TRUE(zk_server_has_session(server, observer_session_id(observer)));
}

static void observer_reads_large_data_and_deletes_below(void)
{
    static char large[300000];
    struct observed_node node = {0};

    memset(large, 'x', sizeof(large));
    CU_ASSERT_EQUAL(observer_create(observer, "/d", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(observer, "/d/e", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(observer, "/d/e/f", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_set(observer, "/d/e/f", large, sizeof(large)), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_look(observer, "/d/e/f", &node), ZOK);
    CU_ASSERT_EQUAL(node.data_length, (int)sizeof(large));
    CU_ASSERT_EQUAL(memcmp(node.data, large, sizeof(large)), 0);
    observed_node_clear(&node);
    CU_ASSERT_EQUAL(observer_delete_below(observer, "/"), ZOK);
    CU_ASSERT_TRUE(observer_wait_gone(observer, "/d", 0));
    CU_ASSERT_TRUE(observer_exists(observer, "/zookeeper"));
}

static void observer_outlives_a_server_restart(void)
{
    CU_ASSERT_EQUAL(observer_create(observer, "/d", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(observer, "/d/x", "", ZOO_EPHEMERAL, NULL), ZOK);
    zk_server_restart(server);
    CU_ASSERT_EQUAL(observer_count(observer, "/d"), 1);
    CU_ASSERT_TRUE(observer_wait_front_other_than(observer, "/d", "", PATIENCE_MS));
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(judge_finds_a_planted_overlap, make_file, clear_all),
    SUITE_TEST_WITH(judge_takes_the_last_sign_of_life_of_a_killed_child, make_file, clear_all),
    SUITE_TEST_WITH(judge_finds_an_overlap_with_one_long_before, make_file, clear_all),
    SUITE_TEST_WITH(judge_finds_tokens_that_do_not_rise, make_file, clear_all),
    SUITE_TEST_WITH(judge_counts_lines_without_sense, make_file, clear_all),
    SUITE_TEST_WITH(critical_section_records_its_start_and_stop, make_file, clear_all),
    SUITE_TEST_WITH(killed_critical_section_is_unfinished, make_file, clear_all),
    SUITE_TEST_WITH(wrong_times_are_refused_before_anything_is_written, make_file, clear_all),
    SUITE_TEST_WITH(streams_status_and_environment_arrive, NULL, clear_all),
    SUITE_TEST_WITH(large_output_does_not_block, NULL, clear_all),
    SUITE_TEST_WITH(only_named_descriptors_are_inherited, NULL, clear_all),
    SUITE_TEST_WITH(terminal_turns_a_key_into_a_signal, NULL, clear_all),
    SUITE_TEST_WITH(stopped_program_is_seen_and_goes_on, NULL, clear_all),
    SUITE_TEST_WITH(observer_lists_in_order_of_creation, start_server, clear_all),
    SUITE_TEST_WITH(observer_reads_large_data_and_deletes_below, start_server, clear_all),
    SUITE_TEST_WITH(observer_outlives_a_server_restart, start_server, clear_all),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "tools", tests);
}
