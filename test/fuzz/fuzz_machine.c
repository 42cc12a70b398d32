/* A contender's life under any sequence of answers and news that a driver can bring. */
#include "recipe/machine.h"

#include "fuzz.h"

/* What is known of the znode outside the machine. */
enum node { NODE_ABSENT, NODE_PRESENT, NODE_MAYBE };

/* Who is ahead, as far as a grant may rest on it. */
enum front {
    FRONT_UNKNOWN,
    FRONT_NOBODY,   /* a listing said so */
    FRONT_ONE,      /* a listing showed exactly one, and nothing can appear behind it */
    FRONT_ONE_GONE, /* and it has been deleted since */
};

static struct {
    struct zkl_machine machine;
    struct zkl_actions did;
    enum zkl_ask asked; /* of the flight that is out */
    unsigned flight;    /* its number; 0: none is out */
    enum node node;
    enum front front;
    int granted, ended, lost, released;
    bool was_released;  /* by its owner */
} life;

/* ---------------------------------------------------------------- what holds at every step */

static bool is_move(enum zkl_state from, enum zkl_state to)
{
    if (from == to || zkl_move_is_allowed(from, to))
        return true;
    for (int by = 0; by < ZKL_STATE_COUNT; by++)
        if (zkl_move_is_allowed(from, (enum zkl_state)by) && zkl_move_is_allowed((enum zkl_state)by, to))
            return true;
    return false;
}

static void expect_notice(const struct zkl_event *event)
{
    switch (life.did.notice) {
    case ZKL_NOTICE_GRANTED:
        EXPECT(event->has_lease && life.machine.state == ZKL_HELD);
        EXPECT(life.front == FRONT_NOBODY || life.front == FRONT_ONE_GONE);
        EXPECT(life.machine.is_verified && life.machine.node_is_known && life.node == NODE_PRESENT);
        life.granted++;
        break;
    case ZKL_NOTICE_ENDED:
        EXPECT(life.did.outcome != ZKL_OUTCOME_OK);
        life.ended++;
        break;
    case ZKL_NOTICE_REQUEUED:
        EXPECT(event->type == ZKL_EV_EXPIRED && !life.machine.has_result);
        break;
    case ZKL_NOTICE_LOST:
        EXPECT(life.granted == 1);
        life.lost++;
        break;
    case ZKL_NOTICE_RELEASED:
        EXPECT(life.was_released && life.machine.state == ZKL_GONE);
        life.released++;
        break;
    case ZKL_NOTICE_DOWNGRADED:
        EXPECT(life.granted == 1 && life.machine.state == ZKL_HELD);
        break;
    case ZKL_NOTICE_NONE:
        break;
    }
    EXPECT(life.granted + life.ended <= 1 && life.lost <= 1 && life.released <= 1);
    EXPECT(life.machine.has_result == (life.granted + life.ended == 1));
}

static void expect_ask(unsigned flight_before)
{
    if (life.did.ask == ZKL_ASK_NOTHING) {
        EXPECT(life.machine.flight == flight_before);
        return;
    }
    EXPECT(life.machine.is_connected && !life.machine.is_blocked && life.machine.is_in_flight);
    EXPECT(life.machine.flight == flight_before + 1);
    EXPECT(life.machine.state != ZKL_GONE);
    EXPECT(life.did.ask != ZKL_ASK_CREATE || life.node == NODE_ABSENT);
    life.asked = life.did.ask;
    life.flight = life.machine.flight;
}

static void feed(const struct zkl_event *event)
{
    struct zkl_machine before = life.machine;

    life.did = zkl_machine_step(&life.machine, event);
    EXPECT(life.machine.state < ZKL_STATE_COUNT);
    EXPECT(is_move(before.state, life.machine.state));
    EXPECT(!before.has_result || life.machine.has_result);
    EXPECT(!life.machine.watch_can_wait || life.machine.state == ZKL_HELD);
    if (life.did.zombie)
        life.node = NODE_ABSENT;
    expect_notice(event);
    expect_ask(before.flight);
    if (before.state == ZKL_GONE)
        EXPECT(life.did.ask == ZKL_ASK_NOTHING && life.did.notice == ZKL_NOTICE_NONE);
    else if (life.machine.state == ZKL_GONE)
        EXPECT(life.node == NODE_ABSENT || life.did.node_stays);
}

/* ---------------------------------------------------------------- answers */

static enum zkl_event_type answer_type(enum zkl_ask ask)
{
    switch (ask) {
    case ZKL_ASK_CREATE: return ZKL_EV_CREATED;
    case ZKL_ASK_PREPARE: return ZKL_EV_PREPARED;
    case ZKL_ASK_FIND: return ZKL_EV_FOUND;
    case ZKL_ASK_LIST: return ZKL_EV_LISTED;
    case ZKL_ASK_SURVEY: return ZKL_EV_SURVEYED;
    case ZKL_ASK_WATCH:
    case ZKL_ASK_WATCH_OWN: return ZKL_EV_WATCHED;
    case ZKL_ASK_DELETE: return ZKL_EV_DELETED;
    case ZKL_ASK_DOWNGRADE: return ZKL_EV_DOWNGRADED;
    case ZKL_ASK_NOTHING: break;
    }
    abort();
}

/* After this answer to a delete, alone or in a transaction. */
static bool is_gone(enum zkl_answer answer)
{
    return answer == ZKL_ANSWER_OK || answer == ZKL_ANSWER_NO_NODE;
}

static bool is_double(enum zkl_ask ask)
{
    return ask != ZKL_ASK_WATCH_OWN && (ask != ZKL_ASK_DELETE || zkl_machine_has_two_names(&life.machine));
}

/* What an answer says of the znode. */
static void learn(const struct zkl_event *event)
{
    bool is_found = event->first == ZKL_ANSWER_OK && event->second == ZKL_ANSWER_OK && event->place.own_is_present;

    if (event->type == ZKL_EV_CREATED)
        life.node = event->first == ZKL_ANSWER_OK        ? NODE_PRESENT
                    : event->first == ZKL_ANSWER_UNKNOWN ? NODE_MAYBE
                                                         : NODE_ABSENT;
    else if (event->type == ZKL_EV_FOUND && is_found)
        life.node = NODE_PRESENT;
    else if (event->type == ZKL_EV_DELETED && is_gone(event->first) &&
             (event->second == ZKL_ANSWER_NONE || is_gone(event->second)))
        life.node = NODE_ABSENT;
    else if (event->type == ZKL_EV_DOWNGRADED && is_gone(event->first) &&
             (event->second == ZKL_ANSWER_NO_NODE || (event->second == ZKL_ANSWER_OK && !event->owner_is_us)))
        life.node = NODE_ABSENT;
    else if (event->type == ZKL_EV_DOWNGRADED && event->second == ZKL_ANSWER_OK && event->owner_is_us)
        life.node = NODE_PRESENT;
    else if (event->type == ZKL_EV_WATCHED &&
             (event->first == ZKL_ANSWER_NO_NODE || (event->first == ZKL_ANSWER_OK && !event->owner_is_us)))
        life.node = NODE_ABSENT;
    else if (event->type == ZKL_EV_WATCHED && event->first == ZKL_ANSWER_OK)
        life.node = NODE_PRESENT;
}

static bool has_listing(const struct zkl_event *event)
{
    return event->type == ZKL_EV_LISTED || event->type == ZKL_EV_SURVEYED ? event->first == ZKL_ANSWER_OK
           : event->type == ZKL_EV_CREATED || event->type == ZKL_EV_FOUND
               ? event->first == ZKL_ANSWER_OK && event->second == ZKL_ANSWER_OK
               : false;
}

/* What an answer says of those ahead. */
static void look_ahead(const struct zkl_event *event)
{
    const struct zkl_place *place = &event->place;

    if (has_listing(event))
        life.front = !place->own_is_present || place->needs_survey || place->is_mixed || place->is_unordered ? FRONT_UNKNOWN
                     : place->ahead_count == 0                                        ? FRONT_NOBODY
                     : place->ahead_count == 1 && place->ahead_is_plain               ? FRONT_ONE
                                                                                      : FRONT_UNKNOWN;
    else if (event->type == ZKL_EV_WATCHED && event->first == ZKL_ANSWER_OK && event->second == ZKL_ANSWER_NO_NODE &&
             life.front == FRONT_ONE)
        life.front = FRONT_ONE_GONE;
}

static enum zkl_answer take_answer(struct input *input)
{
    static const enum zkl_answer answers[] = {
        ZKL_ANSWER_OK,      ZKL_ANSWER_OK,      ZKL_ANSWER_OK,     ZKL_ANSWER_OK,
        ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_DENIED, ZKL_ANSWER_REFUSED,
    };

    return answers[take_byte(input) % 8];
}

static struct zkl_place take_place(struct input *input)
{
    uint8_t bits = take_byte(input);
    struct zkl_place place = {.own_is_present = bits % 8 != 0, .is_mixed = bits % 32 == 9,
                              .is_unordered = bits % 32 == 10, .ahead = -1, .own = -1};

    place.needs_survey = place.own_is_present && bits / 32 == 7;
    place.ahead_count = bits / 32 % 4;
    place.ahead = place.ahead_count > 0 ? 0 : -1;
    place.ahead_is_plain = place.ahead_count > 0 && bits & 16;
    return place;
}

/* The answer to the flight that is out; or one that comes too late, which changes nothing. */
static void answer(struct input *input, struct zkl_event *event)
{
    struct zkl_machine before = life.machine;
    bool is_stale = take_byte(input) % 8 == 0;
    bool is_awaited = life.machine.is_in_flight && !is_stale;

    if (life.flight == 0)
        return;
    event->type = answer_type(life.asked);
    event->flight = is_stale ? life.flight - 1 : life.flight;
    event->first = take_answer(input);
    event->second = is_double(life.asked) ? take_answer(input) : ZKL_ANSWER_NONE;
    event->place = take_place(input);
    /* A survey leaves nothing in doubt. */
    event->place.needs_survey &= event->type != ZKL_EV_SURVEYED;
    event->owner_is_us = take_byte(input) % 8 != 0;
    if (is_awaited) {
        life.flight = 0;
        learn(event);
        look_ahead(event);
    }
    feed(event);
    if (!is_awaited)
        EXPECT(memcmp(&before, &life.machine, sizeof before) == 0 && life.did.ask == ZKL_ASK_NOTHING);
}

/* ---------------------------------------------------------------- news, and the owner's wishes */

static void look_ahead_at_news(enum zkl_event_type type)
{
    if (type == ZKL_EV_AHEAD_GONE && life.front == FRONT_ONE)
        life.front = FRONT_ONE_GONE;
    /* On a new connection news come in any order: the own node's end may be behind that of the one ahead. */
    else if (type == ZKL_EV_EXPIRED || (type == ZKL_EV_CONNECTED && life.front != FRONT_NOBODY))
        life.front = FRONT_UNKNOWN;
}

static void tell(enum zkl_event_type type, struct zkl_event *event)
{
    event->type = type;
    look_ahead_at_news(type);
    if (type == ZKL_EV_EXPIRED) {
        life.node = NODE_ABSENT;
        life.flight = 0;
    } else if (type == ZKL_EV_OWN_GONE) {
        if (!life.machine.node_is_known)
            return;
        life.node = NODE_ABSENT;
    } else if (type == ZKL_EV_UNSENT) {
        if (life.flight == 0 || !life.machine.is_in_flight)
            return;
        event->flight = life.flight;
        life.flight = 0;
    } else if (type == ZKL_EV_RELEASE) {
        life.was_released |= life.machine.state == ZKL_HELD || life.machine.state == ZKL_LOST;
    }
    feed(event);
}

static void step(struct input *input)
{
    static const enum zkl_event_type news[] = {
        ZKL_EV_UNSENT,    ZKL_EV_RETRY,        ZKL_EV_OWN_GONE, ZKL_EV_OWN_CHANGED, ZKL_EV_AHEAD_GONE,
        ZKL_EV_AHEAD_CHANGED, ZKL_EV_CONNECTED, ZKL_EV_DISCONNECTED, ZKL_EV_EXPIRED, ZKL_EV_LEASED,
        ZKL_EV_LAPSED,    ZKL_EV_GIVE_UP,      ZKL_EV_RELEASE,  ZKL_EV_START,
        ZKL_EV_DOWNGRADE, ZKL_EV_HOLD_OVER, ZKL_EV_LOOK,
    };
    static const enum zkl_outcome reasons[] = {ZKL_OUTCOME_LIMIT, ZKL_OUTCOME_CANCELLED, ZKL_OUTCOME_CLOSED};
    uint8_t choice = take_byte(input);
    struct zkl_event event = {.has_lease = choice < 200, .why = reasons[choice % 3]};

    if (choice % 2)
        answer(input, &event);
    else
        tell(news[choice / 2 % (sizeof news / sizeof news[0])], &event);
}

/* Given up, and with servers that answer, every life ends. */
static void expect_end(void)
{
    struct zkl_event close = {.why = ZKL_OUTCOME_CLOSED};
    struct zkl_event connected = {.type = ZKL_EV_CONNECTED};

    tell(ZKL_EV_GIVE_UP, &close);
    feed(&connected);
    for (int i = 0; i < 8 && life.machine.state != ZKL_GONE; i++) {
        struct zkl_event event = {.type = answer_type(life.asked), .flight = life.flight, .first = ZKL_ANSWER_OK,
                                  .second = ZKL_ANSWER_OK, .owner_is_us = true};
        EXPECT(life.machine.is_in_flight);
        event.place = (struct zkl_place){.own_is_present = life.node != NODE_ABSENT, .ahead = -1};
        life.flight = 0;
        learn(&event);
        look_ahead(&event);
        feed(&event);
    }
    EXPECT(life.machine.state == ZKL_GONE);
    EXPECT(life.machine.has_result && life.released == life.was_released);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct zkl_event start = {.type = ZKL_EV_START, .has_lease = true};
    uint8_t begin = take_byte(&input);

    memset(&life, 0, sizeof life);
    zkl_machine_init(&life.machine, begin & 1, begin & 2);
    feed(&start);
    while (input.size > 0)
        step(&input);
    expect_end();
    return 0;
}
