/* etcd v3: a lease that is kept alive, a key of it under the lock's prefix, turn by create revision, and a watch on the
 * nearest earlier key alone. Source: etcd's own package "concurrency" (session and mutex). The holder is told when the
 * lease is found to be over, or when no keep-alive was answered for a time to live. The token is the create revision. */
#include "../lock.h"
#include "etcd_gateway.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_LIMIT_MS = 10000, PATH_SIZE = 128, DEADLINE_CHECK_MS = 500 };

struct etcd_lock {
    struct lab_place place;
    struct etcd_gateway *gateway, *renewal_gateway;
    int64_t lease, revision;
    int64_t kept_ms; /* when the last keep-alive was answered */
    char key[PATH_SIZE + 20], prefix[PATH_SIZE];
    struct lab_beat *renewal;
};

static void *open_etcd(const struct lab_place *place)
{
    struct etcd_lock *lock = lab_alloc(sizeof(*lock));

    lock->place = *place;
    lock->gateway = etcd_gateway_open(place->servers);
    lock->renewal_gateway = etcd_gateway_open(place->servers);
    snprintf(lock->prefix, sizeof(lock->prefix), "lab/%s/", place->name);
    return lock;
}

/* Asks every third of the time to live, and looks twice a second whether the last answer is too old. */
static bool keep_alive(void *arg)
{
    struct etcd_lock *lock = arg;
    json_t *answer;
    bool is_alive;

    if (lab_now_ms() - lock->kept_ms >= lock->place.ttl_ms) {
        lab_tell_lost("no keep-alive was answered for a time to live");
        return false;
    }
    if (lab_now_ms() - lock->kept_ms < lock->place.ttl_ms / 3)
        return true;
    answer = etcd_call(lock->renewal_gateway, "lease/keepalive", json_pack("{sI}", "ID", (json_int_t)lock->lease),
                       DEADLINE_CHECK_MS);
    is_alive = !answer || etcd_number(json_object_get(answer, "result"), "TTL") > 0;
    if (answer && is_alive)
        lock->kept_ms = lab_now_ms();
    json_decref(answer);
    if (!is_alive)
        lab_tell_lost("the lease is over");
    return is_alive;
}

static void end_lease(struct etcd_lock *lock)
{
    lab_beat_end(lock->renewal);
    lock->renewal = NULL;
    if (lock->lease != 0) {
        json_decref(etcd_call(lock->gateway, "lease/revoke", json_pack("{sI}", "ID", (json_int_t)lock->lease),
                              ANSWER_LIMIT_MS));
    }
    lock->lease = 0;
}

static bool begin_lease(struct etcd_lock *lock)
{
    json_t *answer = etcd_call(lock->gateway, "lease/grant", json_pack("{si}", "TTL", lock->place.ttl_ms / 1000),
                               ANSWER_LIMIT_MS);

    lock->lease = etcd_number(answer, "ID");
    json_decref(answer);
    lock->kept_ms = lab_now_ms();
    if (lock->lease == 0)
        return false;
    if (lock->place.is_renewed)
        lock->renewal = lab_beat_start(DEADLINE_CHECK_MS, keep_alive, lock);
    return true;
}

/* Our key, under the lease; its create revision is our place in the queue. */
static bool put_key(struct etcd_lock *lock)
{
    json_t *answer;

    snprintf(lock->key, sizeof(lock->key), "%s%016" PRIx64, lock->prefix, (uint64_t)lock->lease);
    answer = etcd_call(lock->gateway, "kv/put",
                       json_pack("{so,so,sI}", "key", etcd_key(lock->key), "value", etcd_key("x"), "lease",
                                 (json_int_t)lock->lease),
                       ANSWER_LIMIT_MS);
    lock->revision = etcd_number(json_object_get(answer, "header"), "revision");
    json_decref(answer);
    return lock->revision != 0;
}

/* The nearest earlier key (as the gateway writes it), or NULL; *out_answer keeps it alive. False: no answer. */
static bool find_predecessor(struct etcd_lock *lock, json_t **out_answer, json_t **out_key)
{
    char end[PATH_SIZE];

    lab_count_look();
    snprintf(end, sizeof(end), "%s", lock->prefix);
    end[strlen(end) - 1]++;
    *out_answer = etcd_call(lock->gateway, "kv/range",
                            json_pack("{so,so,ss,ss,si,sI}", "key", etcd_key(lock->prefix), "range_end", etcd_key(end),
                                      "sort_order", "DESCEND", "sort_target", "CREATE", "limit", 1,
                                      "max_create_revision", (json_int_t)lock->revision - 1),
                            ANSWER_LIMIT_MS);
    *out_key = json_object_get(json_array_get(json_object_get(*out_answer, "kvs"), 0), "key");
    return *out_answer != NULL;
}

static bool tells_deletion(json_t *answer)
{
    json_t *events = json_object_get(json_object_get(answer, "result"), "events");
    json_t *event;
    size_t i;

    json_array_foreach(events, i, event)
    {
        const char *type = json_string_value(json_object_get(event, "type"));

        if (type && strcmp(type, "DELETE") == 0)
            return true;
    }
    return false;
}

static void wait_for_deletion(struct etcd_lock *lock, json_t *answer, json_t *key, int64_t limit_ms)
{
    json_int_t revision = (json_int_t)etcd_number(json_object_get(answer, "header"), "revision");
    json_t *wanted = json_pack("{s{sO,sI}}", "create_request", "key", key, "start_revision", revision + 1);

    etcd_stream(lock->gateway, "watch", wanted, (int)limit_ms, tells_deletion);
}

/* Our key can have gone with its lease while we waited. */
static bool has_key(struct etcd_lock *lock)
{
    json_t *answer = etcd_call(lock->gateway, "kv/range", json_pack("{so}", "key", etcd_key(lock->key)),
                               ANSWER_LIMIT_MS);
    bool is_there = etcd_number(answer, "count") > 0;

    json_decref(answer);
    return is_there;
}

/* Waits for one predecessor after the other. */
static enum lab_result take_turn(struct etcd_lock *lock, int64_t end_ms)
{
    bool has_waited = false;

    for (;;) {
        json_t *answer, *key;
        bool is_answered = find_predecessor(lock, &answer, &key);
        bool is_free = is_answered && !key;

        if (key && lab_now_ms() < end_ms)
            wait_for_deletion(lock, answer, key, end_ms - lab_now_ms());
        json_decref(answer);
        if (is_free)
            return !has_waited || has_key(lock) ? LAB_OK : LAB_LOST;
        if (!is_answered || lab_now_ms() >= end_ms)
            return is_answered ? LAB_BUSY : LAB_FAILED;
        has_waited = true;
    }
}

static enum lab_result acquire_etcd(void *arg, int limit_ms, uint64_t *out_token)
{
    struct etcd_lock *lock = arg;
    int64_t end_ms = lab_now_ms() + limit_ms;
    enum lab_result result = LAB_FAILED;

    *out_token = (uint64_t)lock->revision;
    /* Of one session the key is one: whoever has it has it again. */
    if (lock->lease != 0)
        return LAB_OK;
    if (begin_lease(lock) && put_key(lock)) {
        lab_point("between");
        result = take_turn(lock, end_ms);
    }
    *out_token = (uint64_t)lock->revision;
    if (result != LAB_OK)
        end_lease(lock);
    return result;
}

static enum lab_result try_etcd(void *lock, uint64_t *out_token)
{
    return acquire_etcd(lock, 0, out_token);
}

static enum lab_result release_etcd(void *arg)
{
    struct etcd_lock *lock = arg;
    json_t *answer = etcd_call(lock->gateway, "kv/deleterange", json_pack("{so}", "key", etcd_key(lock->key)),
                               ANSWER_LIMIT_MS);
    int64_t deleted = etcd_number(answer, "deleted");
    bool is_answered = answer != NULL;

    json_decref(answer);
    end_lease(lock);
    return !is_answered ? LAB_FAILED : deleted == 1 ? LAB_OK : LAB_LOST;
}

static void close_etcd(void *arg)
{
    struct etcd_lock *lock = arg;

    end_lease(lock);
    etcd_gateway_close(lock->gateway);
    etcd_gateway_close(lock->renewal_gateway);
    free(lock);
}

const struct lab_kind lab_etcd = {"etcd", open_etcd, try_etcd, acquire_etcd, release_etcd, close_etcd, NULL};
