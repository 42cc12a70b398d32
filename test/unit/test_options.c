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

static zklock_status try_lock(size_t size)
{
    zklock_session *session = NULL;
    zklock *lock = NULL;
    zklock_options of_lock;
    zklock_status status;

    zklock_options_init(&of_lock);
    of_lock.size = size;
    CU_ASSERT_EQUAL_FATAL(zklock_session_open(&of_session, &session), ZKLOCK_OK);
    status = zklock_new(session, "/lock", &of_lock, &lock);
    zklock_free(lock);
    zklock_session_close(session, 0);
    return status;
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

static void options_of_a_newer_caller_are_refused(void)
{
    of_session.size = sizeof(of_session) + sizeof(void *);
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
    set_up();
    CU_ASSERT_EQUAL(try_lock(sizeof(zklock_options) + sizeof(void *)), ZKLOCK_BAD_ARGUMENT);
}

static void sizes_that_never_were_are_refused(void)
{
    of_session.size = 0;
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
    of_session.size = OLD_SESSION_SIZE - 1;
    CU_ASSERT_EQUAL(try_session(), ZKLOCK_BAD_ARGUMENT);
    set_up();
    CU_ASSERT_EQUAL(try_lock(0), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(try_lock(OLD_LOCK_SIZE - 1), ZKLOCK_BAD_ARGUMENT);
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
    TEST(options_of_a_newer_caller_are_refused),
    TEST(sizes_that_never_were_are_refused),
    TEST(rights_for_the_creator_need_credentials),
    TEST(credentials_that_cannot_be_are_refused),
    TEST(copies_of_credentials_are_wiped),
    TEST(control_characters_are_tamed),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "options", tests);
}
