/* Options of sessions and locks: callers of other ages, credentials that cannot be; texts that others had a hand in. */
#include "support/suite.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/line.h"
#include "base/options.h"
#include "session/credentials.h"
#include "zklock.h"

/* As they were in version 0.1.0, at first. */
#define OLD_SESSION_SIZE offsetof(zklock_session_options, auth_scheme)
#define OLD_LOCK_SIZE (offsetof(zklock_options, event_arg) + sizeof(void *))

static zklock_session_options of_session;

/* Nobody listens there, and nobody needs to. */
static void set_up(void)
{
    zklock_session_options_init(&of_session);
    of_session.servers = "127.0.0.1:1";
}

static zklock_status try_session(void)
{
    zklock_session *session = NULL;
    zklock_status status = zklock_session_open(&of_session, &session);

    CU_ASSERT_EQUAL(session != NULL, status == ZKLOCK_OK);
    zklock_session_close(session, 0);
    return status;
}

/* As a caller sees them who knows one option more. */
struct newer_options {
    zklock_options known;
    void *unknown;
};

static zklock_status try_lock_with(const struct newer_options *of_lock)
{
    zklock_session *session = NULL;
    zklock *lock = NULL;
    zklock_status status;

    CU_ASSERT_EQUAL_FATAL(zklock_session_open(&of_session, &session), ZKLOCK_OK);
    status = zklock_new(session, "/lock", &of_lock->known, &lock);
    zklock_free(lock);
    zklock_session_close(session, 0);
    return status;
}

static zklock_status try_lock(size_t size)
{
    struct newer_options of_lock = {.unknown = NULL};

    zklock_options_init(&of_lock.known);
    of_lock.known.size = size;
    return try_lock_with(&of_lock);
}

/* What lies behind the struct that it knows is no business of ours. */
static void options_of_an_older_caller_are_accepted(void)
{
    zklock_session_options taken;

    of_session.size = OLD_SESSION_SIZE;
    of_session.session_timeout_ms = 4711;
    of_session.acl = (zklock_acl)99;
    of_session.auth_scheme = "a scheme that would be refused";
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_OK);
    CU_ASSERT_EQUAL(try_lock(OLD_LOCK_SIZE), ZKLOCK_OK);
    zklock_session_options_init(&taken);
    CU_ASSERT_TRUE(zkl_options_take(&taken, sizeof(taken), &of_session, OLD_SESSION_SIZE));
    CU_ASSERT_EQUAL(taken.size, sizeof(taken));
    CU_ASSERT_EQUAL(taken.session_timeout_ms, 4711);
    CU_ASSERT_EQUAL(taken.acl, ZKLOCK_ACL_OPEN);
    CU_ASSERT_PTR_NULL(taken.auth_scheme);
}

/* He gets his defaults, and is refused only when he asks for what nobody here can give. */
static void newer_caller_is_refused_only_what_is_unknown(void)
{
    struct newer_options of_lock;

    memset(&of_lock, 0xff, sizeof(of_lock));
    zklock_options_init_sized(&of_lock.known, sizeof(of_lock));
    CU_ASSERT_EQUAL(of_lock.known.size, sizeof(of_lock));
    CU_ASSERT_PTR_NULL(of_lock.unknown);
    CU_ASSERT_EQUAL(try_lock_with(&of_lock), ZKLOCK_OK);
    of_lock.unknown = &of_lock;
    CU_ASSERT_EQUAL(try_lock_with(&of_lock), ZKLOCK_BAD_ARGUMENT);
}

/* The struct of a caller with an older header ends where his header says, and the stack goes on there. */
static void defaults_are_written_as_far_as_the_caller_knows(void)
{
    union {
        zklock_session_options of_session;
        zklock_options of_lock;
        zklock_session_info info;
        unsigned char bytes[sizeof(zklock_session_options)];
    } old;
    zklock_session *session = NULL;

    memset(&old, 0xee, sizeof(old));
    zklock_session_options_init_sized(&old.of_session, OLD_SESSION_SIZE);
    CU_ASSERT_EQUAL(old.of_session.size, OLD_SESSION_SIZE);
    CU_ASSERT_EQUAL(old.of_session.session_timeout_ms, 10000);
    CU_ASSERT_EQUAL(old.bytes[OLD_SESSION_SIZE], 0xee);
    memset(&old, 0xee, sizeof(old));
    zklock_options_init_sized(&old.of_lock, OLD_LOCK_SIZE);
    CU_ASSERT_EQUAL(old.of_lock.size, OLD_LOCK_SIZE);
    CU_ASSERT_EQUAL(old.bytes[OLD_LOCK_SIZE - 1], 0);
    CU_ASSERT_EQUAL(old.bytes[OLD_LOCK_SIZE], 0xee);
    CU_ASSERT_EQUAL_FATAL(zklock_session_open(&of_session, &session), ZKLOCK_OK);
    memset(&old, 0xee, sizeof(old));
    CU_ASSERT_EQUAL(zklock_session_info_get_sized(session, &old.info, offsetof(zklock_session_info, session_id)), ZKLOCK_OK);
    CU_ASSERT_FALSE(old.info.is_connected);
    CU_ASSERT_EQUAL(old.bytes[offsetof(zklock_session_info, session_id)], 0xee);
    zklock_session_close(session, 0);
}

static void sizes_that_never_were_are_refused(void)
{
    of_session.size = 0;
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
    of_session.size = OLD_SESSION_SIZE - 1;
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
    of_session.size = (size_t)-1;
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
    set_up();
    CU_ASSERT_EQUAL(try_lock(0), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(try_lock(OLD_LOCK_SIZE - 1), ZKLOCK_BAD_ARGUMENT);
}

static void encryption_is_refused_where_the_client_library_cannot(void)
{
    of_session.tls = "ca.pem,client.pem,key.pem";
    CU_ASSERT_EQUAL(try_session(), zklock_has_tls() ? ZKLOCK_OK : ZKLOCK_NO_TLS);
}

static void rights_for_the_creator_need_credentials(void)
{
    of_session.acl = ZKLOCK_ACL_CREATOR;
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
    of_session.auth_scheme = "digest";
    of_session.auth = "me:secret";
    of_session.auth_size = 9;
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_OK);
    of_session.acl = (zklock_acl)(ZKLOCK_ACL_CREATOR_READ + 1);
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
}

static void credentials_that_cannot_be_are_refused(void)
{
    CU_ASSERT_TRUE(zkl_credentials_are_valid(NULL, NULL, 0));
    CU_ASSERT_TRUE(zkl_credentials_are_valid("digest", "a:b", 3));
    CU_ASSERT_TRUE(zkl_credentials_are_valid("x509", NULL, 0));
    CU_ASSERT_FALSE(zkl_credentials_are_valid(NULL, "a:b", 3));
    CU_ASSERT_FALSE(zkl_credentials_are_valid("", "a:b", 3));
    CU_ASSERT_FALSE(zkl_credentials_are_valid("two words", "a:b", 3));
    CU_ASSERT_FALSE(zkl_credentials_are_valid("a:b", "a:b", 3));
    CU_ASSERT_FALSE(zkl_credentials_are_valid("\x1b[2J", "a:b", 3));
    CU_ASSERT_FALSE(zkl_credentials_are_valid("digest", NULL, 3));
    CU_ASSERT_FALSE(zkl_credentials_are_valid("digest", "a:b", 65537));
    CU_ASSERT_FALSE(zkl_credentials_are_valid(
        "a-scheme-of-more-than-sixty-four-characters-which-no-server-has-ever-had", "a:b", 3));
}

static void copies_of_credentials_are_wiped(void)
{
    struct zkl_credentials copy;

    CU_ASSERT_TRUE_FATAL(zkl_credentials_copy(&copy, "digest", "a:\0b", 4));
    CU_ASSERT_EQUAL(copy.size, 4);
    CU_ASSERT_EQUAL(memcmp(copy.bytes, "a:\0b", 4), 0);
    zkl_credentials_clear(&copy);
    CU_ASSERT_PTR_NULL(copy.bytes);
    CU_ASSERT_PTR_NULL(copy.scheme);
    zkl_credentials_clear(&copy);
    CU_ASSERT_TRUE(zkl_credentials_copy(&copy, NULL, NULL, 0));
    CU_ASSERT_PTR_NULL(copy.scheme);
}

static void control_characters_are_tamed(void)
{
    char text[] = "a\nb\x1b[2J\x7f \xc3\xbc \xc2\x9b" "1m \xc2\xa0 \xc2";

    zkl_line_tame(text);
    CU_ASSERT_STRING_EQUAL(text, "a?b?[2J? \xc3\xbc ??1m \xc2\xa0 \xc2");
}

#define TEST(test) SUITE_TEST_WITH(test, set_up, NULL)

static const struct suite_test tests[] = {
    TEST(options_of_an_older_caller_are_accepted),
    TEST(newer_caller_is_refused_only_what_is_unknown),
    TEST(defaults_are_written_as_far_as_the_caller_knows),
    TEST(sizes_that_never_were_are_refused),
    TEST(rights_for_the_creator_need_credentials),
    TEST(encryption_is_refused_where_the_client_library_cannot),
    TEST(credentials_that_cannot_be_are_refused),
    TEST(copies_of_credentials_are_wiped),
    TEST(control_characters_are_tamed),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "options", tests);
}
