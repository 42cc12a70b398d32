/* What an operator sees of many locks at once: list, doctor. */
#include "cli_stage.h"

#include "support/port.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void make_parents(void)
{
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, "/locks", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, LOCK, "", 0, NULL), ZOK);
}

static const char *find_line(const char *text, const char *start)
{
    const char *at = text;

    while (at && strncmp(at, start, strlen(start)) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at;
}

static bool is_80_wide(const char *text)
{
    for (size_t length = strcspn(text, "\n"); *text; length = strcspn(text, "\n")) {
        if (length > 80)
            return false;
        text += length + (text[length] == '\n');
    }
    return true;
}

static void list_shows_each_lock_in_one_line(void)
{
    struct process *process = stage_start("list", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    stage_hold("first");
    stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_create(stage_observer, "/locks/two", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, "/locks/two/x-1-", "", ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL), ZOK);
    process = stage_start("list", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 3);
    CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), LOCK " "));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), " first "));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "     1\n"));
    CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), "/locks/two session 0x"));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("list", "/locks/two", NULL)), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 2);
}

static json_t *json_of(struct process *process, int status)
{
    json_t *whole;

    CU_ASSERT_EQUAL(stage_end(process), status);
    whole = json_loads(stage_output(process), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    return whole;
}

static void list_as_json_has_the_fields_of_status(void)
{
    const char *path, *label;
    json_t *whole;
    int version, denied, is_held;

    stage_hold("x");
    whole = json_of(stage_start("list", "--json", NULL), 0);
    CU_ASSERT_EQUAL(json_unpack(whole, "{s:i, s:i, s:[{s:s, s:b, s:[{s:s}]}]}", "version", &version,
                                "denied_directories", &denied, "locks", "path", &path, "is_held", &is_held,
                                "contenders", "label", &label),
                    0);
    CU_ASSERT_STRING_EQUAL(path, LOCK);
    CU_ASSERT_TRUE(is_held && version == 1 && denied == 0);
    json_decref(whole);
}

static void long_names_fit_80_columns(void)
{
    static const char path[] = "/locks/a-very-long-name-for-a-lock-that-nobody-would-think-of-in-earnest-"
                               "but-that-will-be-met-some-day";
    struct process *holder = stage_start("exec", "--label", "a label that is rather long, and then goes on",
                                         path, "--", "sh", "-c", "echo held; exec sleep 300", NULL);
    struct process *process;

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("list", NULL)), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 2);
    CU_ASSERT_TRUE(is_80_wide(stage_output(process)));
}

/* ---------------------------------------------------------------- doctor */

static void doctor_finds_nothing_in_good_order(void)
{
    struct process *process;

    stage_hold("x");
    stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", NULL)), 0);
    if (!strstr(stage_output(process), "1 lock looked at, nothing found\n"))
        printf("\n%s%s", stage_output(process), stage_error(process));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "1 lock looked at, nothing found\n"));
    CU_ASSERT_PTR_NULL(strstr(stage_output(process), "not checked: dead owners"));
}

/* One holds X and waits for Y, the other holds Y and waits for X: each in a nested exec of one session. */
static void plant_ring(zhandle_t *one, zhandle_t *other)
{
    static const char *const names[] = {"/locks/one/x-1-", "/locks/two/x-2-", "/locks/two/x-1-", "/locks/one/x-2-"};
    char path[OBSERVER_PATH_SIZE];

    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(zoo_create(i % 2 == 0 ? one : other, names[i], "", 0, &ZOO_OPEN_ACL_UNSAFE,
                                         ZOO_EPHEMERAL | ZOO_SEQUENCE, path, sizeof(path)),
                              ZOK);
}

static void doctor_prints_a_dead_lock_as_a_chain(void)
{
    struct observer *other = observer_open(zk_server_address(stage_server), 10000);
    struct process *process;
    const char *line;

    make_parents();
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, "/locks/two", "", 0, NULL), ZOK);
    plant_ring(observer_handle(stage_observer), observer_handle(other));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", NULL)), 1);
    line = find_line(stage_output(process), "cycle: session 0x");
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, " holds /locks/one, waits for /locks/two held by session 0x"));
    CU_ASSERT_PTR_NOT_NULL(strstr(line, " holds /locks/two, waits for /locks/one held by session 0x"));
    CU_ASSERT_PTR_NULL(find_line(line + 1, "cycle: "));
    observer_close(other);
    /* With one of the two gone there is no ring any more. */
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", NULL)), 0);
}

static void doctor_names_odd_things_under_a_lock(void)
{
    const char *const kinds[] = {"mixed: " LOCK, "foreign: " LOCK ": 1 child is no contender: config",
                                 "payload: " LOCK, "no-session: " LOCK};
    struct process *process;

    make_parents();
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/config", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/a-lock-0000000003", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/a-__READ__0000000004", NULL, ZOO_EPHEMERAL, NULL), ZOK);
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", "/locks", NULL)), 1);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!find_line(stage_output(process), kinds[i]))
            printf("\n%s(expected: %s)\n", stage_output(process), kinds[i]);
        CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), kinds[i]));
    }
    CU_ASSERT_EQUAL(stage_end(stage_start("doctor", "/nowhere", NULL)), 0);
}

/* Stands first among the servers and answers "srvr" and "dump" alone. */
struct teller {
    pthread_t thread;
    struct port port;
    int listener;
    int64_t session_id;
    int silent_dumps;   /* so many leave the session out */
};

static void answer(struct teller *teller, int client)
{
    char word[64] = "";
    char text[256] = "Mode: standalone\n";

    if (recv(client, word, 4, MSG_WAITALL) != 4)
        return;
    if (strcmp(word, "dump") == 0)
        snprintf(text, sizeof(text), "SessionTracker dump:\nSession Sets (1)/(1):\n1 expire at ever:\n\t0x%" PRIx64
                 "\nephemeral nodes dump:\n", teller->silent_dumps-- > 0 ? 1 : teller->session_id);
    else if (strcmp(word, "srvr") != 0)
        return;
    CU_ASSERT_EQUAL(send(client, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void *tell(void *argument)
{
    struct teller *teller = argument;
    int client;

    while ((client = accept4(teller->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        answer(teller, client);
        close(client);
    }
    return NULL;
}

static void teller_start(struct teller *teller, int64_t session_id, int silent_dumps)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    *teller = (struct teller){.port = port_reserve(), .session_id = session_id, .silent_dumps = silent_dumps};
    teller->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_port = htons((uint16_t)teller->port.number);
    setsockopt(teller->listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    CU_ASSERT_EQUAL_FATAL(bind(teller->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    CU_ASSERT_EQUAL_FATAL(listen(teller->listener, 16), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&teller->thread, NULL, tell, teller), 0);
}

static void teller_end(struct teller *teller)
{
    shutdown(teller->listener, SHUT_RDWR);
    pthread_join(teller->thread, NULL);
    close(teller->listener);
    port_release(&teller->port);
}

static struct process *doctor_beside(const struct teller *teller)
{
    char servers[128];

    snprintf(servers, sizeof(servers), "127.0.0.1:%d,%s", teller->port.number, zk_server_address(stage_server));
    return stage_start("doctor", "-S", servers, "-T", "40", LOCK, NULL);
}

/* A server moves a session from one expiry time to another while it prints them: seven dumps may leave it out. */
static void owner_is_dead_only_when_many_dumps_leave_it_out(void)
{
    struct observer *owner = observer_open(zk_server_address(stage_server), 30000);
    struct process *doctor;
    struct teller teller;

    make_parents();
    CU_ASSERT_EQUAL(observer_create(owner, LOCK "/x-1-", "", ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL), ZOK);
    teller_start(&teller, observer_session_id(owner), 7);
    doctor = doctor_beside(&teller);
    CU_ASSERT_EQUAL(stage_end(doctor), 0);
    CU_ASSERT_PTR_NULL(strstr(stage_output(doctor), "dead-owner"));
    teller_end(&teller);
    teller_start(&teller, observer_session_id(owner), 1000);
    doctor = doctor_beside(&teller);
    CU_ASSERT_EQUAL(stage_end(doctor), 1);
    CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(doctor), "dead-owner: " LOCK ": x-1-0000000000 of session 0x"));
    teller_end(&teller);
    observer_close(owner);
}

/* A node without a session that lives cannot be had from a healthy server: the finding is shown with one whose owner
 * ends between the two looks of a doctor that waits in the proxy. */
static void doctor_finds_an_owner_that_has_died(void)
{
    struct observer *dying = observer_open(zk_server_address(stage_server), 10000);
    struct process *process;

    make_parents();
    stage_put_proxy_between();
    CU_ASSERT_EQUAL(observer_create(dying, LOCK "/x-1-", "", ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL), ZOK);
    fault_proxy_hold_reply(stage_proxy, FAULT_OP_GET_DATA, 1);
    process = stage_start("doctor", NULL);
    CU_ASSERT_TRUE(fault_proxy_wait_held(stage_proxy, 1, PATIENCE_MS));
    observer_close(dying);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
    fault_proxy_release(stage_proxy);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), "dead-owner: " LOCK ": x-1-0000000000 of session 0x"));
}

static void doctor_says_what_it_could_not_check(void)
{
    const struct zk_server_options options = {.extra_config = "4lw.commands.whitelist=ruok,srvr,stat,isro,conf,mntr\n"};
    const char *what;
    json_t *whole;

    stage_tear_down();
    stage_server = zk_server_start(&options);
    whole = json_of(stage_start("doctor", "--json", NULL), 0);
    CU_ASSERT_EQUAL(json_unpack(whole, "{s:i, s:i, s:[], s:[{s:s}]}", "version", &(int){0}, "lock_count", &(int){0},
                                "findings", "not_checked", "what", &what),
                    0);
    CU_ASSERT_STRING_EQUAL(what, "dead owners");
    json_decref(whole);
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(list_shows_each_lock_in_one_line),
    ON_STAGE(list_as_json_has_the_fields_of_status),
    ON_STAGE(long_names_fit_80_columns),
    ON_STAGE(doctor_finds_nothing_in_good_order),
    ON_STAGE(doctor_prints_a_dead_lock_as_a_chain),
    ON_STAGE(doctor_names_odd_things_under_a_lock),
    ON_STAGE(owner_is_dead_only_when_many_dumps_leave_it_out),
    ON_STAGE(doctor_finds_an_owner_that_has_died),
    ON_STAGE(doctor_says_what_it_could_not_check),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "survey", tests);
}
