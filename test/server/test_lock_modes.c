/* Shared and exclusive contenders in one queue: who holds with whom, who is woken, and who may not meet. */
#include <stdio.h>
#include <string.h>

#include "server/lock_stage.h"
#include "support/eventually.h"
#include "support/suite.h"

/* A name as Curator writes it: a random UUID. */
#define CURATORS STAGE_PATH "/_c_0f0f0f0f-aaaa-4bbb-8ccc-0123456789ab-"

static struct contender *new_contender(zklock_session *session, zklock_style style, zklock_mode mode)
{
    zklock_options options;

    zklock_options_init(&options);
    options.style = style;
    options.mode = mode;
    return contender_new_with(session, STAGE_PATH, &options);
}

static struct contender *reader(zklock_session *session)
{
    return new_contender(session, ZKLOCK_STYLE_CURATOR, ZKLOCK_MODE_SHARED);
}

static struct contender *writer(zklock_session *session)
{
    return new_contender(session, ZKLOCK_STYLE_CURATOR, ZKLOCK_MODE_EXCLUSIVE);
}

static struct contender *rw_writer(zklock_session *session)
{
    return new_contender(session, ZKLOCK_STYLE_CURATOR_RW, ZKLOCK_MODE_EXCLUSIVE);
}

static struct contender *rw_reader(zklock_session *session)
{
    return new_contender(session, ZKLOCK_STYLE_CURATOR_RW, ZKLOCK_MODE_SHARED);
}

static void let_go(struct contender *contender)
{
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void each_style_names_its_contenders_as_the_others_do(void)
{
    static const struct {
        zklock_style style;
        zklock_mode mode;
        const char *word;
    } cases[] = {
        {ZKLOCK_STYLE_CURATOR, ZKLOCK_MODE_EXCLUSIVE, "-lock-00"},
        {ZKLOCK_STYLE_CURATOR, ZKLOCK_MODE_SHARED, "-__READ__00"},
        {ZKLOCK_STYLE_CURATOR, ZKLOCK_MODE_LEADER_LATCH, "-latch-00"},
        {ZKLOCK_STYLE_CURATOR_RW, ZKLOCK_MODE_EXCLUSIVE, "-__WRIT__00"},
        {ZKLOCK_STYLE_CURATOR_RW, ZKLOCK_MODE_SHARED, "-__READ__00"},
        {ZKLOCK_STYLE_KAZOO, ZKLOCK_MODE_EXCLUSIVE, "__lock__00"},
        {ZKLOCK_STYLE_KAZOO, ZKLOCK_MODE_SHARED, "__rlock__00"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct contender *contender = new_contender(stage.session, cases[i].style, cases[i].mode);
        char node[OBSERVER_PATH_SIZE];

        contender_hold(contender);
        contender_node(contender, node);
        CU_ASSERT_PTR_NOT_NULL(strstr(node, cases[i].word));
        let_go(contender);
    }
}

static void readers_hold_together_and_writers_alone(void)
{
    static const zklock_style styles[] = {ZKLOCK_STYLE_CURATOR, ZKLOCK_STYLE_CURATOR_RW, ZKLOCK_STYLE_KAZOO};

    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        struct contender *first = new_contender(stage.session, styles[i], ZKLOCK_MODE_SHARED);
        struct contender *second = new_contender(stage_open_outside(), styles[i], ZKLOCK_MODE_SHARED);
        struct contender *alone = new_contender(stage.session, styles[i], ZKLOCK_MODE_EXCLUSIVE);

        contender_hold(first);
        contender_hold(second);
        CU_ASSERT_EQUAL(zklock_try(alone->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
        contender_await_event(alone, ZKLOCK_EVENT_RELEASED);
        contender_queue(alone);
        let_go(first);
        CU_ASSERT_EQUAL(zklock_result(alone->lock), ZKLOCK_PENDING);
        let_go(second);
        CU_ASSERT_EQUAL(contender_result(alone), ZKLOCK_OK);
        CU_ASSERT_EQUAL(zklock_try(first->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
        contender_await_event(first, ZKLOCK_EVENT_RELEASED);
        let_go(alone);
    }
}

static void reader_behind_a_waiting_writer_waits_for_it(void)
{
    struct contender *holder = reader(stage.session);
    struct contender *between = writer(stage.session);
    struct contender *late = reader(stage_open_outside());

    contender_hold(holder);
    contender_queue(between);
    contender_queue(late);
    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(between), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_result(late->lock), ZKLOCK_PENDING);
    let_go(between);
    CU_ASSERT_EQUAL(contender_result(late), ZKLOCK_OK);
}

static void reader_enters_at_once_when_the_writer_ahead_gives_up(void)
{
    struct contender *holder = reader(stage_open_outside());
    struct contender *between = writer(stage_open_outside());
    struct contender *late = reader(stage.session);

    contender_hold(holder);
    contender_queue(between);
    contender_queue(late);
    fault_proxy_reset_counts(stage.proxy);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE_TO_SERVER);
    CU_ASSERT_EQUAL(zklock_cancel(between->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(late), ZKLOCK_OK);
    CU_ASSERT_EQUAL(stage_requests(), 0);
}

enum { READERS = 50, LINES = 4, LONG_TIMEOUT_MS = 60000 };

/* Fifty readers stand behind a writer, and two writers behind them. No heartbeat is due for so long. */
static void release_to_fifty_readers_wakes_fifty(void)
{
    struct contender *holder = writer(stage_open_outside());
    zklock_session *last = stage_open(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS);
    zklock_session *lines[LINES];
    struct contender *readers[READERS];
    struct contender *behind[2];

    contender_hold(holder);
    for (int i = 0; i < LINES; i++)
        lines[i] = stage_open(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS);
    for (int i = 0; i < READERS; i++)
        contender_queue(readers[i] = reader(lines[i % LINES]));
    for (int i = 0; i < 2; i++)
        contender_queue(behind[i] = writer(last));
    fault_proxy_reset_counts(stage.proxy);
    let_go(holder);
    for (int i = 0; i < READERS; i++)
        CU_ASSERT_EQUAL(contender_result(readers[i]), ZKLOCK_OK);
    for (int i = 0; i < LINES; i++)
        stage_fence(lines[i]);
    stage_fence(last);
    /* One event a session and node goes over the wire; nobody asks anything. */
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), LINES);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, stage_session_id(last)), 0);
    CU_ASSERT_EQUAL(stage_requests() - LINES - 1, 0);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(zklock_result(behind[i]->lock), ZKLOCK_PENDING);
    for (int i = 0; i < READERS; i++)
        let_go(readers[i]);
    CU_ASSERT_EQUAL(contender_result(behind[0]), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_result(behind[1]->lock), ZKLOCK_PENDING);
}

/* The same with a session each: fifty events at the server, and not one more. */
static void release_to_fifty_sessions_wakes_fifty(void)
{
    struct contender *holder = writer(stage_open_outside());
    struct contender *readers[READERS];
    struct contender *behind = writer(stage_open(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS));

    contender_hold(holder);
    for (int i = 0; i < READERS; i++)
        contender_queue(readers[i] = reader(stage_open(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS)));
    contender_queue(behind);
    fault_proxy_reset_counts(stage.proxy);
    let_go(holder);
    for (int i = 0; i < READERS; i++)
        CU_ASSERT_EQUAL(contender_result(readers[i]), ZKLOCK_OK);
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), READERS);
    CU_ASSERT_EQUAL(stage_requests() - 1, 0);
}

static void shared_holder_is_told_of_its_loss(void)
{
    struct contender *holder = reader(stage.session);
    char node[OBSERVER_PATH_SIZE];

    contender_hold(holder);
    contender_node(holder, node);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
}

/* ---------------------------------------------------------------- downgrade */

static void downgrade_lets_readers_in_and_keeps_token_and_number(void)
{
    struct contender *holder = rw_writer(stage.session);
    struct contender *next = rw_reader(stage_open_outside());
    struct contender *behind = rw_writer(stage_open_outside());
    char before[OBSERVER_PATH_SIZE];
    char after[OBSERVER_PATH_SIZE];
    struct observed_node node;
    uint64_t token;

    contender_hold(holder);
    token = contender_token(holder);
    contender_node(holder, before);
    contender_queue(next);
    contender_queue(behind);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(next), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_token(holder), token);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    contender_node(holder, after);
    memcpy(strstr(before, "__WRIT__"), "__READ__", strlen("__READ__"));
    CU_ASSERT_STRING_EQUAL(before, after);
    CU_ASSERT_EQUAL(observer_look(stage.observer, after, &node), ZOK);
    CU_ASSERT_EQUAL(node.owner, stage_session_id(stage.session));
    observed_node_clear(&node);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 3);
    let_go(next);
    CU_ASSERT_EQUAL(zklock_result(behind->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(behind), ZKLOCK_OK);
}

/* Without heartbeats the only transaction is the downgrade's. */
static zklock_session *open_without_heartbeats(void)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = fault_proxy_address(stage.proxy);
    options.session_timeout_ms = STAGE_TIMEOUT_MS;
    options.lease = ZKLOCK_LEASE_CHEAP;
    zklock_session *session = stage_begin_with(&options);
    CU_ASSERT_EQUAL_FATAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    return session;
}

static void downgrade_whose_answer_is_lost_is_done_once(void)
{
    struct contender *holder = rw_writer(open_without_heartbeats());

    for (int is_applied = 0; is_applied < 2; is_applied++) {
        contender_hold(holder);
        if (is_applied)
            fault_proxy_lose_reply(stage.proxy, FAULT_OP_MULTI, 1, FAULT_THEN_CUT);
        else
            fault_proxy_drop_request(stage.proxy, FAULT_OP_MULTI, 1, FAULT_THEN_CUT);
        CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
        CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
        CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_LOST));
        let_go(holder);
        CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
    }
}

static void limit_of_a_downgrade_is_each_threads_own(void)
{
    struct contender *holder = rw_writer(open_without_heartbeats());
    struct blocking_call patient;

    contender_hold(holder);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_MULTI, 1);
    blocking_call_start(&patient, holder, zklock_downgrade, -1);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, 0), ZKLOCK_UNCONFIRMED);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, 100), ZKLOCK_UNCONFIRMED);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(blocking_call_join(&patient), ZKLOCK_OK);
}

static void release_before_the_downgrade_is_certain_leaves_nothing(void)
{
    struct contender *holder = rw_writer(open_without_heartbeats());

    contender_hold(holder);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_MULTI, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, 0), ZKLOCK_UNCONFIRMED);
    let_go(holder);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

static void downgraded_reader_is_told_of_its_loss(void)
{
    struct contender *holder = rw_writer(stage.session);
    char node[OBSERVER_PATH_SIZE];

    contender_hold(holder);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_node(holder, node);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    contender_await_event(holder, ZKLOCK_EVENT_LOST);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
}

/* Curator 5.5 makes the reader first, and deletes the writer then. */
static void writer_waits_for_a_reader_that_came_under_its_writers_number(void)
{
    struct contender *waiter = rw_writer(stage.session);
    char curators[OBSERVER_PATH_SIZE];
    char downgraded[OBSERVER_PATH_SIZE];

    CU_ASSERT_EQUAL(observer_create(stage.observer, CURATORS "__WRIT__", "", ZOO_EPHEMERAL | ZOO_SEQUENCE, curators),
                    ZOK);
    contender_queue(waiter);
    snprintf(downgraded, sizeof downgraded, "%s", curators);
    memcpy(strstr(downgraded, "__WRIT__"), "__READ__", strlen("__READ__"));
    CU_ASSERT_EQUAL(observer_create(stage.observer, downgraded, "", ZOO_EPHEMERAL, NULL), ZOK);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, curators), ZOK);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 2, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(zklock_result(waiter->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, downgraded), ZOK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

static void what_cannot_be_changed_is_refused(void)
{
    struct contender *shared = reader(stage.session);
    struct contender *exclusive = writer(stage.session);
    char detail[256];

    CU_ASSERT_EQUAL(zklock_downgrade(exclusive->lock, STAGE_LIMIT_MS), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_upgrade(exclusive->lock), ZKLOCK_NOT_HELD);
    contender_hold(shared);
    CU_ASSERT_EQUAL(zklock_upgrade(shared->lock), ZKLOCK_NO_UPGRADE);
    CU_ASSERT_EQUAL(zklock_downgrade(shared->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_is_held(shared->lock));
    let_go(shared);
    contender_hold(exclusive);
    CU_ASSERT_EQUAL(zklock_upgrade(exclusive->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_downgrade(exclusive->lock, STAGE_LIMIT_MS), ZKLOCK_BAD_ARGUMENT);
    zklock_detail(exclusive->lock, detail, sizeof detail);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "curator-rw"));
    CU_ASSERT_TRUE(zklock_is_held(exclusive->lock));
}

/* ---------------------------------------------------------------- who may not meet */

static void expect_refusal(struct contender *contender, const char *other, zklock_status status, const char *word)
{
    char path[OBSERVER_PATH_SIZE];
    char detail[256];
    bool is_numbered = strchr("0123456789", other[strlen(other) - 1]) != NULL;

    snprintf(path, sizeof path, CURATORS "%s", other);
    CU_ASSERT_EQUAL(observer_create(stage.observer, path, "", is_numbered ? 0 : ZOO_SEQUENCE, path), ZOK);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), status);
    zklock_detail(contender->lock, detail, sizeof detail);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, word));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_delete(stage.observer, path), ZOK);
}

static void contenders_who_do_not_count_each_other_are_refused(void)
{
    expect_refusal(reader(stage.session), "lock-", ZKLOCK_MIXED_STYLES, STAGE_PATH);
    expect_refusal(writer(stage.session), "__READ__", ZKLOCK_MIXED_STYLES, STAGE_PATH);
    expect_refusal(rw_writer(stage.session), "lock-", ZKLOCK_MIXED_STYLES, STAGE_PATH);
    expect_refusal(writer(stage.session), "__WRIT__", ZKLOCK_MIXED_STYLES, STAGE_PATH);
}

static void readers_and_writers_beyond_the_counter_are_refused(void)
{
    expect_refusal(rw_reader(stage.session), "__READ__2147483647", ZKLOCK_REFUSED, "sequence numbers");
    expect_refusal(rw_writer(stage.session), "__READ__-2147483648", ZKLOCK_REFUSED, "sequence numbers");
}

/* ---------------------------------------------------------------- elections */

static uint64_t observe(uint64_t seen, const struct contender *leader)
{
    zklock_queue *queue = NULL;
    uint64_t token = 0;

    CU_ASSERT_EQUAL_FATAL(zklock_observe(stage.session, STAGE_PATH, seen, STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(queue->count, leader ? 1 : 0);
    if (leader) {
        token = queue->contenders[0]->token;
        CU_ASSERT_EQUAL(queue->contenders[0]->mode, ZKLOCK_MODE_LEADER_LATCH);
        CU_ASSERT_TRUE(queue->contenders[0]->is_holder);
        CU_ASSERT_PTR_NOT_NULL(strstr(queue->contenders[0]->payload, "\"host\""));
    }
    zklock_queue_free(queue);
    return token;
}

static void observer_sees_each_leader_in_turn(void)
{
    zklock_session *outside = stage_open_outside();
    struct contender *first = new_contender(outside, ZKLOCK_STYLE_CURATOR, ZKLOCK_MODE_LEADER_LATCH);
    struct contender *second = new_contender(outside, ZKLOCK_STYLE_CURATOR, ZKLOCK_MODE_LEADER_LATCH);
    zklock_queue *queue = NULL;
    uint64_t token;

    CU_ASSERT_EQUAL(zklock_observe(stage.session, STAGE_PATH, 0, 300, &queue), ZKLOCK_TIMEOUT);
    contender_hold(first);
    contender_queue(second);
    token = observe(0, first);
    CU_ASSERT_EQUAL(token, contender_token(first));
    CU_ASSERT_EQUAL(zklock_observe(stage.session, STAGE_PATH, token, 300, &queue), ZKLOCK_TIMEOUT);
    let_go(first);
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    token = observe(token, second);
    CU_ASSERT_EQUAL(token, contender_token(second));
    let_go(second);
    CU_ASSERT_EQUAL(observe(token, NULL), 0);
}

/* ---------------------------------------------------------------- the options of an older header */

static void options_without_a_mode_mean_exclusive(void)
{
    struct {
        zklock_options known;
        char later[8];
    } of_a_later_header = {.later = {0}};
    zklock_options options;
    zklock *lock;

    zklock_options_init(&options);
    options.mode = ZKLOCK_MODE_SHARED;
    options.size = offsetof(zklock_options, mode);
    CU_ASSERT_EQUAL_FATAL(zklock_new(stage.session, STAGE_PATH, &options, &lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_acquire(lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_upgrade(lock), ZKLOCK_OK);
    zklock_free(lock);
    options.size = offsetof(zklock_options, mode) - 1;
    CU_ASSERT_EQUAL(zklock_new(stage.session, STAGE_PATH, &options, &lock), ZKLOCK_BAD_ARGUMENT);
    of_a_later_header.known = options;
    of_a_later_header.known.size = sizeof of_a_later_header;
    CU_ASSERT_EQUAL_FATAL(zklock_new(stage.session, STAGE_PATH, &of_a_later_header.known, &lock), ZKLOCK_OK);
    zklock_free(lock);
    of_a_later_header.later[0] = 1;
    CU_ASSERT_EQUAL(zklock_new(stage.session, STAGE_PATH, &of_a_later_header.known, &lock), ZKLOCK_BAD_ARGUMENT);
    options.size = sizeof options;
    options.mode = (zklock_mode)99;
    CU_ASSERT_EQUAL(zklock_new(stage.session, STAGE_PATH, &options, &lock), ZKLOCK_BAD_ARGUMENT);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(each_style_names_its_contenders_as_the_others_do, stage_start, stage_end),
    SUITE_TEST_WITH(readers_hold_together_and_writers_alone, stage_start, stage_end),
    SUITE_TEST_WITH(reader_behind_a_waiting_writer_waits_for_it, stage_start, stage_end),
    SUITE_TEST_WITH(reader_enters_at_once_when_the_writer_ahead_gives_up, stage_start, stage_end),
    SUITE_TEST_WITH(release_to_fifty_readers_wakes_fifty, stage_start, stage_end),
    SUITE_TEST_WITH(release_to_fifty_sessions_wakes_fifty, stage_start, stage_end),
    SUITE_TEST_WITH(shared_holder_is_told_of_its_loss, stage_start, stage_end),
    SUITE_TEST_WITH(downgrade_lets_readers_in_and_keeps_token_and_number, stage_start, stage_end),
    SUITE_TEST_WITH(downgrade_whose_answer_is_lost_is_done_once, stage_start, stage_end),
    SUITE_TEST_WITH(limit_of_a_downgrade_is_each_threads_own, stage_start, stage_end),
    SUITE_TEST_WITH(release_before_the_downgrade_is_certain_leaves_nothing, stage_start, stage_end),
    SUITE_TEST_WITH(downgraded_reader_is_told_of_its_loss, stage_start, stage_end),
    SUITE_TEST_WITH(writer_waits_for_a_reader_that_came_under_its_writers_number, stage_start, stage_end),
    SUITE_TEST_WITH(what_cannot_be_changed_is_refused, stage_start, stage_end),
    SUITE_TEST_WITH(contenders_who_do_not_count_each_other_are_refused, stage_start, stage_end),
    SUITE_TEST_WITH(readers_and_writers_beyond_the_counter_are_refused, stage_start, stage_end),
    SUITE_TEST_WITH(observer_sees_each_leader_in_turn, stage_start, stage_end),
    SUITE_TEST_WITH(options_without_a_mode_mean_exclusive, stage_start, stage_end),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_modes", tests);
}
