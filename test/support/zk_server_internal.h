/* What the single server and the ensemble share. */
#ifndef ZKLOCK_TEST_ZK_SERVER_INTERNAL_H
#define ZKLOCK_TEST_ZK_SERVER_INTERNAL_H

#include "support/jvm.h"
#include "support/port.h"
#include "support/zk_server.h"

enum { SERVER_PATIENCE_MS = 60000 };

struct zk_server {
    char *directory;
    char *data_directory;
    char *config_file;
    char *jvm_flags;
    struct port port;
    char address[32];
    struct jvm jvm;
};

/* A server that is configured but not running: more_config goes into its zoo.cfg. */
struct zk_server *server_prepare(const struct zk_server_options *options, const char *more_config);
void server_launch(struct zk_server *server);
/* True once it answers "Mode:"; false when it ended, or at the deadline. */
bool server_wait_serving(struct zk_server *server, int timeout_ms);
bool server_is_serving(struct zk_server *server);
/* Ends the test program with the end of the server's log. */
_Noreturn void server_give_up(struct zk_server *server, const char *complaint);

#endif
