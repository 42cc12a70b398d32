#include "support/fault_internal.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024, LONGEST_SLEEP_MS = 60000 };

struct poll_set {
    struct pollfd *entries;
    int count;
    int room;
};

static enum fault_direction opposite(enum fault_direction way)
{
    return way == TO_SERVER ? TO_CLIENT : TO_SERVER;
}

static bool is_ipv6(const char *address)
{
    return strchr(address, ':') != NULL;
}

static socklen_t fill_address(const char *text, int port, struct sockaddr_storage *out_address)
{
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out_address;
    struct sockaddr_in *four = (struct sockaddr_in *)out_address;

    memset(out_address, 0, sizeof(*out_address));
    if (is_ipv6(text)) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1)
            return sizeof(*six);
    } else {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        if (inet_pton(AF_INET, text, &four->sin_addr) == 1)
            return sizeof(*four);
    }
    suite_abandon("the fault proxy needs a numeric address, not %s", text);
}

static int open_socket(const char *address)
{
    return socket(is_ipv6(address) ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

void fault_open_listener(struct fault_proxy *proxy)
{
    struct sockaddr_storage address;
    socklen_t length = fill_address(proxy->listen_address, proxy->port.number, &address);
    const int yes = 1;

    proxy->listener = open_socket(proxy->listen_address);
    setsockopt(proxy->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(proxy->listener, (struct sockaddr *)&address, length) != 0
        || listen(proxy->listener, BACKLOG) != 0)
        suite_abandon("the fault proxy cannot listen at %s: %s", proxy->address, strerror(errno));
}

/* By shutdown, since a close would neither reach a descriptor that a forked child shares, nor be safe while
 * the relay polls. */
void fault_cut_connection(struct connection *connection)
{
    for (int end = 0; end < DIRECTIONS; end++) {
        if (connection->sockets[end] >= 0)
            shutdown(connection->sockets[end], SHUT_RDWR);
    }
    connection->is_cut = true;
}

static void close_sockets(struct connection *connection)
{
    for (int end = 0; end < DIRECTIONS; end++) {
        if (connection->sockets[end] >= 0)
            close(connection->sockets[end]);
        connection->sockets[end] = -1;
        fault_drop_queue(&connection->lanes[end]);
        free(connection->lanes[end].input);
        connection->lanes[end].input = NULL;
    }
    free(connection->asked);
    connection->asked = NULL;
    connection->is_closed = true;
}

void fault_free_connection(struct connection *connection)
{
    if (!connection->is_closed) {
        fault_cut_connection(connection);
        close_sockets(connection);
    }
    free(connection);
}

static void send_at_once(int connection)
{
    const int yes = 1;

    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static void connect_to_server(struct fault_proxy *proxy, struct connection *connection)
{
    struct sockaddr_storage address;
    socklen_t length = fill_address(proxy->target_address, proxy->options.target_port, &address);
    int server = open_socket(proxy->target_address);

    send_at_once(server);
    if (connect(server, (struct sockaddr *)&address, length) == 0 || errno == EINPROGRESS) {
        connection->sockets[TO_SERVER] = server;
        return;
    }
    close(server);
    fault_cut_connection(connection);
}

static void accept_one(struct fault_proxy *proxy, int client)
{
    struct connection *connection = calloc(1, sizeof(*connection));

    if (!connection)
        suite_abandon("the fault proxy is out of memory");
    send_at_once(client);
    connection->sockets[TO_CLIENT] = client;
    connection->sockets[TO_SERVER] = -1;
    connection->poll_slots[TO_CLIENT] = -1;
    connection->poll_slots[TO_SERVER] = -1;
    connection->is_raw = proxy->options.is_raw;
    connection->next = proxy->connections;
    proxy->connections = connection;
    proxy->accepted++;
    if (proxy->mood != FAULT_HOLE && proxy->mood != FAULT_STALL)
        connect_to_server(proxy, connection);
    pthread_cond_broadcast(&proxy->changed);
}

static void accept_all(struct fault_proxy *proxy)
{
    while (proxy->listener >= 0) {
        int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (client < 0)
            return;
        accept_one(proxy, client);
    }
}

/* When the lane's next byte may go, or -1 for "not on its own". */
static int64_t next_send_ms(const struct fault_proxy *proxy, const struct lane *lane)
{
    const struct packet *packet = lane->first;

    if (!packet || packet->is_held || proxy->mood == FAULT_STALL)
        return -1;
    return packet->due_ms > lane->next_byte_ms ? packet->due_ms : lane->next_byte_ms;
}

static void mark_dead(struct lane *lane)
{
    lane->is_shut = true;
    fault_drop_queue(lane);
}

static void read_lane(struct fault_proxy *proxy, struct connection *connection, enum fault_direction way)
{
    struct lane *lane = &connection->lanes[way];
    ssize_t count;

    lane->input = realloc(lane->input, lane->input_length + READ_SIZE);
    if (!lane->input)
        suite_abandon("the fault proxy is out of memory");
    count = recv(connection->sockets[opposite(way)], lane->input + lane->input_length, READ_SIZE, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0)
        lane->is_ended = true;
    if (count < 0)
        mark_dead(&connection->lanes[opposite(way)]);
    if (count <= 0 || lane->is_shut)
        return;
    lane->input_length += (size_t)count;
    fault_take_packets(proxy, connection, way);
}

/* Sends what may go of the first packet; true when there is more to try. */
static bool send_first(struct fault_proxy *proxy, struct connection *connection, enum fault_direction way)
{
    struct lane *lane = &connection->lanes[way];
    struct packet *packet = lane->first;
    size_t wanted = proxy->trickle_ms > 0 ? 1 : packet->length - packet->sent;
    ssize_t count = send(connection->sockets[way], packet->bytes + packet->sent, wanted, MSG_NOSIGNAL);

    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR)
            mark_dead(lane);
        return false;
    }
    packet->sent += (size_t)count;
    lane->next_byte_ms = proxy->trickle_ms > 0 ? monotonic_ms() + proxy->trickle_ms : 0;
    if (packet->sent < packet->length)
        return true;
    lane->first = packet->next;
    if (!lane->first)
        lane->last = NULL;
    free(packet);
    return true;
}

static void flush_lane(struct fault_proxy *proxy, struct connection *connection, enum fault_direction way)
{
    struct lane *lane = &connection->lanes[way];
    bool may_go_on = true;

    if (lane->first && fault_is_swallowed(proxy, connection, way)) {
        connection->has_loss = true;
        fault_drop_queue(lane);
    }
    while (may_go_on && !connection->is_cut) {
        int64_t time_ms = next_send_ms(proxy, lane);

        if (time_ms < 0 || time_ms > monotonic_ms())
            break;
        if (connection->sockets[way] < 0)
            connect_to_server(proxy, connection);
        else
            may_go_on = send_first(proxy, connection, way);
    }
}

void fault_flush_connection(struct fault_proxy *proxy, struct connection *connection)
{
    flush_lane(proxy, connection, TO_SERVER);
    flush_lane(proxy, connection, TO_CLIENT);
}

/* The end of the source is passed on behind everything that came before it; a hole passes on nothing. */
static void pass_on_end(struct fault_proxy *proxy, struct connection *connection, enum fault_direction way)
{
    struct lane *lane = &connection->lanes[way];

    if (!lane->is_ended || lane->is_shut || lane->first || proxy->mood == FAULT_STALL
        || fault_is_swallowed(proxy, connection, way))
        return;
    if (connection->sockets[way] >= 0)
        shutdown(connection->sockets[way], SHUT_WR);
    else
        connection->lanes[opposite(way)].is_shut = true;
    lane->is_shut = true;
}

static bool wants_input(const struct fault_proxy *proxy, const struct connection *connection,
                        enum fault_direction way)
{
    return !connection->lanes[way].is_ended && connection->sockets[opposite(way)] >= 0
           && proxy->mood != FAULT_STALL;
}

static bool has_input(const struct poll_set *set, int slot)
{
    return slot >= 0 && set->entries[slot].revents != 0;
}

static bool is_over(const struct connection *connection)
{
    return connection->lanes[TO_SERVER].is_shut && connection->lanes[TO_CLIENT].is_shut;
}

static void serve(struct fault_proxy *proxy, struct connection *connection, const struct poll_set *set)
{
    for (int way = 0; way < DIRECTIONS && !connection->is_cut; way++) {
        if (has_input(set, connection->poll_slots[opposite(way)]) && wants_input(proxy, connection, way))
            read_lane(proxy, connection, way);
        flush_lane(proxy, connection, way);
        pass_on_end(proxy, connection, way);
    }
    if (connection->is_cut || is_over(connection)) {
        close_sockets(connection);
        pthread_cond_broadcast(&proxy->changed);
    }
}

static int add_entry(struct poll_set *set, int descriptor, int events)
{
    if (set->count == set->room) {
        set->room = set->room * 2 + 64;
        set->entries = realloc(set->entries, (size_t)set->room * sizeof(*set->entries));
        if (!set->entries)
            suite_abandon("the fault proxy is out of memory");
    }
    set->entries[set->count] = (struct pollfd){.fd = descriptor, .events = (short)events};
    return set->count++;
}

/* A socket without a wish is left out: poll tells of a hang-up even when nobody asked. */
static void add_connection(struct fault_proxy *proxy, struct connection *connection, struct poll_set *set,
                           int64_t *wake_ms)
{
    int64_t now_ms = monotonic_ms();

    for (int end = 0; end < DIRECTIONS; end++) {
        int64_t send_ms = next_send_ms(proxy, &connection->lanes[end]);
        int events = wants_input(proxy, connection, opposite((enum fault_direction)end)) ? POLLIN : 0;

        if (send_ms > now_ms && send_ms < *wake_ms)
            *wake_ms = send_ms;
        else if (send_ms >= 0 && send_ms <= now_ms)
            events |= POLLOUT;
        connection->poll_slots[end] = -1;
        if (connection->sockets[end] >= 0 && events)
            connection->poll_slots[end] = add_entry(set, connection->sockets[end], events);
    }
}

/* Returns how long to sleep at most. */
static int fill_poll_set(struct fault_proxy *proxy, struct poll_set *set)
{
    int64_t wake_ms = monotonic_ms() + LONGEST_SLEEP_MS;

    set->count = 0;
    add_entry(set, proxy->wake, POLLIN);
    add_entry(set, proxy->listener, POLLIN);
    for (struct connection *c = proxy->connections; c; c = c->next) {
        if (!c->is_closed)
            add_connection(proxy, c, set, &wake_ms);
    }
    return remaining_ms(wake_ms);
}

static void clear_wake(struct fault_proxy *proxy)
{
    uint64_t count;

    while (read(proxy->wake, &count, sizeof(count)) > 0)
        continue;
}

void *fault_relay_run(void *context)
{
    struct fault_proxy *proxy = context;
    struct poll_set set = {0};

    pthread_mutex_lock(&proxy->mutex);
    while (!proxy->is_ending) {
        int sleep_ms = fill_poll_set(proxy, &set);

        pthread_mutex_unlock(&proxy->mutex);
        poll(set.entries, (nfds_t)set.count, sleep_ms);
        pthread_mutex_lock(&proxy->mutex);
        clear_wake(proxy);
        for (struct connection *c = proxy->connections; c; c = c->next) {
            if (!c->is_closed)
                serve(proxy, c, &set);
        }
        accept_all(proxy);
    }
    pthread_mutex_unlock(&proxy->mutex);
    free(set.entries);
    return NULL;
}
