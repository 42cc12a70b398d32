/* A ZooKeeper of one node on 127.0.0.1, for trying things out: Debian's package, or the release at
 * ZOOKEEPER_HOME. */
#ifndef CLI_PRIVATE_SERVER_H
#define CLI_PRIVATE_SERVER_H

#include <stdbool.h>

#include "child.h"

struct private_server_options {
    int port;              /* 0: a free one */
    const char *directory; /* for its data, kept; NULL: a temporary one, removed at the end */
    int tick_time_ms;
    int signal_fd;         /* a signal that ends a wait ends the start as well */
};

struct private_server {
    struct child child;
    int port;
    char *directory;
    bool is_temporary;
};

/* Returns 0 when it serves; else the exit status, having said why and cleaned up. */
int private_server_start(const struct private_server_options *options, struct private_server *out_server);

/* Whether it still runs. Reaps it if not. */
bool private_server_is_running(struct private_server *server);

/* Ends it by its number (TERM, then KILL), and removes what it leaves if that is temporary. */
void private_server_stop(struct private_server *server);

#endif
