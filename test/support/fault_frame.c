#include "support/fault_internal.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A longer one is no packet: a four-letter word, or not ZooKeeper's protocol. */
enum { LONGEST_PACKET = 64 * 1024 * 1024, LENGTH_SIZE = 4, XID_OF_EVENTS = -1 };

static int32_t read_int32(const unsigned char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return (int32_t)be32toh(value);
}

static int64_t read_int64(const unsigned char *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return (int64_t)be64toh(value);
}

bool fault_is_swallowed(const struct fault_proxy *proxy, const struct connection *connection,
                        enum fault_direction way)
{
    if (connection->is_silent || proxy->mood == FAULT_HOLE)
        return true;
    return proxy->mood == (way == TO_SERVER ? FAULT_HOLE_TO_SERVER : FAULT_HOLE_TO_CLIENT);
}

void fault_drop_queue(struct lane *lane)
{
    while (lane->first) {
        struct packet *packet = lane->first;

        lane->first = packet->next;
        free(packet);
    }
    lane->last = NULL;
}

static struct packet *add_to_queue(struct fault_proxy *proxy, struct connection *connection,
                                   enum fault_direction way, const unsigned char *bytes, size_t length)
{
    struct lane *lane = &connection->lanes[way];
    struct packet *packet = calloc(1, sizeof(*packet) + length);

    if (!packet)
        suite_abandon("the fault proxy is out of memory");
    memcpy(packet->bytes, bytes, length);
    packet->length = length;
    packet->due_ms = monotonic_ms() + proxy->delay_ms[way];
    if (lane->last)
        lane->last->next = packet;
    else
        lane->first = packet;
    lane->last = packet;
    return packet;
}

static bool does_match(const struct rule *rule, int op)
{
    if (rule->op == FAULT_OP_EVERY)
        return op != FAULT_OP_CONNECT && op != FAULT_OP_PING && op != FAULT_OP_EVENT;
    return rule->op == op;
}

/* Counts the request for every rule; the first that fires is the answer, with is_armed false. */
static struct rule *find_fired(struct fault_proxy *proxy, int op)
{
    struct rule *fired = NULL;

    for (int i = 0; i < FAULT_RULES; i++) {
        struct rule *rule = &proxy->rules[i];

        if (!rule->is_armed || !does_match(rule, op) || --rule->left > 0)
            continue;
        if (!fired)
            fired = rule;
        else
            rule->left = 1;     /* one fault a request: this one fires on the next */
    }
    if (fired)
        fired->is_armed = false;
    return fired;
}

static void note_fired(struct fault_proxy *proxy, struct connection *connection, enum fault_after after)
{
    proxy->fired++;
    if (after != FAULT_GO_ON)
        fault_flush_connection(proxy, connection);
    if (after == FAULT_THEN_CUT)
        fault_cut_connection(connection);
    if (after == FAULT_THEN_SILENT)
        connection->is_silent = true;
    pthread_cond_broadcast(&proxy->changed);
}

static struct asked *remember_asked(struct connection *connection, int32_t xid, int op)
{
    size_t size = (size_t)(connection->asked_count + 1) * sizeof(struct asked);
    struct asked *asked = realloc(connection->asked, size);

    if (!asked)
        suite_abandon("the fault proxy is out of memory");
    connection->asked = asked;
    asked = &connection->asked[connection->asked_count++];
    memset(asked, 0, sizeof(*asked));
    asked->xid = xid;
    asked->op = op;
    return asked;
}

static bool take_asked(struct connection *connection, int32_t xid, bool is_opening, struct asked *out_asked)
{
    for (int i = 0; i < connection->asked_count; i++) {
        struct asked *asked = &connection->asked[i];
        bool is_this = is_opening ? asked->op == FAULT_OP_CONNECT
                                  : asked->xid == xid && asked->op != FAULT_OP_CONNECT;

        if (!is_this)
            continue;
        *out_asked = *asked;
        connection->asked_count--;
        memmove(asked, asked + 1, (size_t)(connection->asked_count - i) * sizeof(*asked));
        return true;
    }
    return false;
}

/* A request: after the length, xid and kind; the first packet of a connection has neither. */
static void take_request(struct fault_proxy *proxy, struct connection *connection, const unsigned char *bytes,
                         size_t length)
{
    struct lane *lane = &connection->lanes[TO_SERVER];
    bool is_opening = !lane->has_opened;
    bool has_header = !is_opening && length >= LENGTH_SIZE + 8;
    int32_t xid = has_header ? read_int32(bytes + LENGTH_SIZE) : 0;
    int op = has_header ? read_int32(bytes + LENGTH_SIZE + 4) : FAULT_OP_CONNECT;
    struct rule *rule;
    struct asked *asked;

    lane->has_opened = true;
    fault_count_request(proxy, connection, op);
    if (fault_is_swallowed(proxy, connection, TO_SERVER)) {
        connection->has_loss = true;
        return;
    }
    rule = find_fired(proxy, op);
    if (rule && rule->kind == DROP_REQUEST) {
        note_fired(proxy, connection, rule->after);
        return;
    }
    asked = remember_asked(connection, xid, op);
    asked->is_reply_lost = rule && rule->kind == LOSE_REPLY;
    asked->is_reply_held = rule && rule->kind == HOLD_REPLY;
    asked->after = rule ? rule->after : FAULT_GO_ON;
    add_to_queue(proxy, connection, TO_SERVER, bytes, length)->is_held = rule && rule->kind == HOLD_REQUEST;
    if (rule && rule->kind == HOLD_REQUEST)
        note_fired(proxy, connection, FAULT_GO_ON);
}

/* The answer to the opening: protocol version, timeout, session, ... */
static void learn_session(struct connection *connection, const unsigned char *bytes, size_t length)
{
    if (length >= LENGTH_SIZE + 16)
        connection->session_id = read_int64(bytes + LENGTH_SIZE + 8);
}

static void find_fate_of_event(struct fault_proxy *proxy, struct asked *out_fate)
{
    struct rule *rule = find_fired(proxy, FAULT_OP_EVENT);

    out_fate->op = FAULT_OP_EVENT;
    out_fate->is_reply_lost = rule && (rule->kind == LOSE_REPLY || rule->kind == DROP_REQUEST);
    out_fate->is_reply_held = rule && !out_fate->is_reply_lost;
    out_fate->after = rule ? rule->after : FAULT_GO_ON;
}

/* An answer: after the length the xid of its request, -1 for a watch event. */
static void take_reply(struct fault_proxy *proxy, struct connection *connection, const unsigned char *bytes,
                       size_t length)
{
    struct lane *lane = &connection->lanes[TO_CLIENT];
    bool is_opening = !lane->has_opened;
    int32_t xid = !is_opening && length >= LENGTH_SIZE + 4 ? read_int32(bytes + LENGTH_SIZE) : 0;
    struct asked fate = {0};

    lane->has_opened = true;
    if (is_opening)
        learn_session(connection, bytes, length);
    if (fault_is_swallowed(proxy, connection, TO_CLIENT)) {
        connection->has_loss = true;
        return;
    }
    if (!is_opening && xid == XID_OF_EVENTS)
        find_fate_of_event(proxy, &fate);
    else
        take_asked(connection, xid, is_opening, &fate);
    if (!fate.is_reply_lost) {
        if (fate.op == FAULT_OP_EVENT)
            fault_count_event(proxy, connection);
        add_to_queue(proxy, connection, TO_CLIENT, bytes, length)->is_held = fate.is_reply_held;
    }
    if (fate.is_reply_lost || fate.is_reply_held)
        note_fired(proxy, connection, fate.after);
}

static void take_bytes(struct fault_proxy *proxy, struct connection *connection, enum fault_direction way)
{
    struct lane *lane = &connection->lanes[way];

    if (fault_is_swallowed(proxy, connection, way))
        connection->has_loss = true;
    else if (lane->input_length > 0)
        add_to_queue(proxy, connection, way, lane->input, lane->input_length);
    lane->input_length = 0;
}

void fault_take_packets(struct fault_proxy *proxy, struct connection *connection, enum fault_direction way)
{
    struct lane *lane = &connection->lanes[way];
    size_t done = 0;

    while (!connection->is_raw && lane->input_length - done >= LENGTH_SIZE) {
        const unsigned char *bytes = lane->input + done;
        size_t length = (size_t)(uint32_t)read_int32(bytes) + LENGTH_SIZE;

        if (length > LONGEST_PACKET) {
            connection->is_raw = true;
            break;
        }
        if (lane->input_length - done < length)
            break;
        if (way == TO_SERVER)
            take_request(proxy, connection, bytes, length);
        else
            take_reply(proxy, connection, bytes, length);
        done += length;
    }
    lane->input_length -= done;
    memmove(lane->input, lane->input + done, lane->input_length);
    if (connection->is_raw)
        take_bytes(proxy, connection, way);
}
