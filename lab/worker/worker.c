/* One contender: does with its lock what it is told on standard input, a command a line, and reports what came of it. */
#include "../lock.h"
#include "report.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lab_kind *const kinds[] = {
#ifdef LAB_HAS_REDIS
    &lab_redis_naive, &lab_redis_set, &lab_redisson, &lab_redlock,
#endif
#ifdef LAB_HAS_ETCD
    &lab_etcd,
#endif
#ifdef LAB_HAS_MYSQL
    &lab_mysql_row, &lab_mysql_key, &lab_mysql_version,
#endif
    &lab_zk_node, &lab_zklock,
};

struct worker {
    const struct lab_kind *kind;
    void *lock;
    const char *store;
    uint64_t token;
    int64_t value; /* of the resource, when we came in */
    bool is_inside;
};

static const char *const result_names[] = {"ok", "busy", "lost", "failed"};

static const struct lab_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    }
    return NULL;
}

static bool read_value(struct worker *worker)
{
    if (worker->kind->row)
        return worker->kind->row->read(worker->lock, &worker->value);
    return store_read(worker->store, worker->token, &worker->value);
}

static bool write_value(struct worker *worker)
{
    if (worker->kind->row)
        return worker->kind->row->write(worker->lock, worker->value + 1);
    return store_write(worker->store, worker->value + 1, worker->token);
}

static enum lab_result take(struct worker *worker, int limit_ms)
{
    enum lab_result result;

    report("ask", "%s", "");
    report_begin_grant();
    result = limit_ms == 0 ? worker->kind->try_once(worker->lock, &worker->token)
                           : worker->kind->acquire(worker->lock, limit_ms, &worker->token);
    if (result == LAB_OK) {
        worker->is_inside = true;
        report("granted", "%" PRIu64, worker->token);
        if (read_value(worker))
            report("value", "%" PRId64, worker->value);
    } else {
        report("refused", "%s", result_names[result]);
    }
    return result;
}

/* What a holder that was told does: nothing more. */
static bool leave_if_told(struct worker *worker)
{
    if (!worker->is_inside || !report_is_told())
        return false;
    worker->is_inside = false;
    report("leave", "%s", "told");
    return true;
}

static void work(struct worker *worker, int64_t duration_ms)
{
    int64_t end_ms = lab_now_ms() + duration_ms;

    while (lab_now_ms() < end_ms && !leave_if_told(worker))
        lab_sleep_ms(1);
    report("worked", "%s", "");
}

static bool write_once(struct worker *worker)
{
    bool is_written;

    if (!worker->is_inside || leave_if_told(worker)) {
        report("unwritten", "%s", "");
        return false;
    }
    /* Between this check and the write the process can stand still for any time. */
    lab_point("check");
    is_written = write_value(worker);
    worker->is_inside = false;
    report(is_written ? "wrote" : "stale", "%" PRId64, worker->value + 1);
    report("leave", "%s", "");
    return is_written;
}

static void let_go(struct worker *worker)
{
    if (worker->is_inside)
        report("leave", "%s", "");
    worker->is_inside = false;
    report("released", "%s", result_names[worker->kind->release(worker->lock)]);
}

/* The whole way, until so many writes have been accepted. */
static void go_round(struct worker *worker, int rounds, int hold_ms)
{
    for (int done = 0; done < rounds;) {
        if (take(worker, 60000) != LAB_OK)
            break;
        work(worker, hold_ms);
        done += write_once(worker);
        let_go(worker);
    }
    report("rounds", "%s", "");
}

static bool obey(struct worker *worker, const char *line)
{
    char word[32] = "", name[32] = "", what[32] = "";
    int first = 0, second = 0;

    sscanf(line, "%31s %d %d", word, &first, &second);
    if (strcmp(word, "take") == 0)
        take(worker, first);
    else if (strcmp(word, "work") == 0)
        work(worker, first);
    else if (strcmp(word, "write") == 0)
        write_once(worker);
    else if (strcmp(word, "release") == 0)
        let_go(worker);
    else if (strcmp(word, "rounds") == 0)
        go_round(worker, first, second);
    else if (sscanf(line, "at %31s %31s", name, what) == 2)
        report_arm_point(name, strcmp(what, "stop") == 0);
    else
        return false;
    return true;
}

/* worker LOCK SERVERS NAME TTL_MS renewed|fixed STORE LOOKS */
int main(int count, char **arguments)
{
    struct worker worker = {.kind = count == 8 ? find_kind(arguments[1]) : NULL};
    struct lab_place place;
    char line[128];

    if (!worker.kind || !report_count_looks_in(arguments[7])) {
        fprintf(stderr, "lab-worker: %s\n", count == 8 ? "there is no such lock in it, or no file for its looks"
                                                       : "seven arguments are wanted; lab/run gives them");
        return 64;
    }
    place = (struct lab_place){arguments[2], arguments[3], atoi(arguments[4]), strcmp(arguments[5], "renewed") == 0};
    worker.store = arguments[6];
    worker.lock = worker.kind->open(&place);
    if (!worker.lock) {
        report("closed", "%s", "no server");
        return 69;
    }
    report("opened", "%s", "");
    while (fgets(line, sizeof(line), stdin) && obey(&worker, line))
        continue;
    worker.kind->close(worker.lock);
    report("closed", "%s", "");
    return 0;
}
