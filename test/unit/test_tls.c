/* Encryption belongs to the ZooKeeper client library: this program stands in for one that has it. */
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "zklock.h"

static char files_given[256];
static int calls;

/* With the signature that such a library has. It connects in the clear, to where nobody listens. */
zhandle_t *zookeeper_init_ssl(const char *host, const char *files, watcher_fn watch, int timeout_ms,
                              const clientid_t *id, void *context, int flags);

zhandle_t *zookeeper_init_ssl(const char *host, const char *files, watcher_fn watch, int timeout_ms,
                              const clientid_t *id, void *context, int flags)
{
    calls++;
    snprintf(files_given, sizeof(files_given), "%s", files);
    return zookeeper_init(host, watch, timeout_ms, id, context, flags);
}

static void open_and_close(const char *tls)
{
    zklock_session_options options;
    zklock_session *session = NULL;

    zklock_session_options_init(&options);
    options.servers = "127.0.0.1:1";
    options.tls = tls;
    CU_ASSERT_EQUAL_FATAL(zklock_session_open(&options, &session), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, 300), ZKLOCK_NO_SERVER);
    zklock_session_close(session, 0);
}

static void library_that_can_encrypt_is_asked_to(void)
{
    CU_ASSERT_TRUE(zklock_has_tls());
    open_and_close("ca.pem,client.pem,key.pem");
    CU_ASSERT_TRUE(calls > 0);
    CU_ASSERT_STRING_EQUAL(files_given, "ca.pem,client.pem,key.pem");
}

static void nobody_who_did_not_ask_is_encrypted(void)
{
    calls = 0;
    open_and_close(NULL);
    CU_ASSERT_EQUAL(calls, 0);
}

static const struct suite_test tests[] = {
    SUITE_TEST(library_that_can_encrypt_is_asked_to),
    SUITE_TEST(nobody_who_did_not_ask_is_encrypted),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "tls", tests);
}
