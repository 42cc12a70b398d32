/* A real ZooKeeper server of one node on 127.0.0.1: free port, private directory, short tick.
 *
 * It dies with the test program. A function that cannot do its work ends the test program with a message;
 * without an installed ZooKeeper, starting one skips the test. ZOOKEEPER_HOME names another installation,
 * ZKLOCK_SERVER_LOG=info makes its log (server.log in its directory) more talkative. */
#ifndef ZKLOCK_TEST_ZK_SERVER_H
#define ZKLOCK_TEST_ZK_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct zk_server;

/* 0 or NULL: the default. */
struct zk_server_options {
    int tick_time_ms;               /* 500 */
    int min_session_timeout_ms;     /* 2 ticks */
    int max_session_timeout_ms;     /* 60000 */
    int max_client_connections;     /* of one address; -1: no limit; default: the server's 60 */
    const char *extra_config;       /* whole lines of zoo.cfg */
    const char *jvm_flags;          /* separated by blanks */
};

/* Returns when the server answers. options may be NULL. */
struct zk_server *zk_server_start(const struct zk_server_options *options);
/* Stops it and removes its directory. Accepts NULL. */
void zk_server_free(struct zk_server *server);

int zk_server_port(const struct zk_server *server);
/* "127.0.0.1:port" */
const char *zk_server_address(const struct zk_server *server);
const char *zk_server_directory(const struct zk_server *server);
const char *zk_server_data_directory(const struct zk_server *server);
pid_t zk_server_pid(const struct zk_server *server);

void zk_server_stop(struct zk_server *server);      /* TERM, then KILL; the data stay */
void zk_server_kill(struct zk_server *server);      /* KILL at once */
void zk_server_begin(struct zk_server *server);     /* starts a stopped one again; does not wait */
void zk_server_restart(struct zk_server *server);   /* same port and data; waits until it answers */
void zk_server_pause(struct zk_server *server);     /* SIGSTOP: sockets stay open, nothing is answered */
void zk_server_resume(struct zk_server *server);

/* The answer to a four-letter word ("srvr", "cons", "wchc", "dump"...); false if there was none within
 * two seconds. The text is cut to the buffer. */
bool zk_server_4lw(const struct zk_server *server, const char *word, char *out_text, size_t size);

/* Watches that the server keeps for all sessions; -1 when it does not answer. */
int zk_server_watch_count(const struct zk_server *server);
bool zk_server_wait_watch_count(const struct zk_server *server, int count, int timeout_ms);

/* Packets that the server has received on this session's present connection, from the list that "cons"
 * gives: the connect request, every request, every ping. A reconnect starts again at 1. -1 when the session
 * has no connection here. For requests by kind and without pings count at a fault proxy. */
long zk_server_received(const struct zk_server *server, int64_t session_id);

/* Whether this server (in an ensemble: ask the leader) still counts the session as alive, by the list that
 * "dump" gives. */
bool zk_server_has_session(const struct zk_server *server, int64_t session_id);

#endif
