/* Seeded fault: nobody looks for creates whose fate was never seen. */
#define zkl_session_see_children real_session_see_children
#define zkl_zombies_turn real_zombies_turn
#include "session/zombies.c"
#undef zkl_session_see_children
#undef zkl_zombies_turn

void zkl_session_see_children(zklock_session *session, const char *parent, const struct zkl_reply *listing);
int64_t zkl_zombies_turn(zklock_session *session, int64_t now_ns);

void zkl_session_see_children(zklock_session *session, const char *parent, const struct zkl_reply *listing)
{
    (void)session;
    (void)parent;
    (void)listing;
}

int64_t zkl_zombies_turn(zklock_session *session, int64_t now_ns)
{
    (void)session;
    (void)now_ns;
    return ZKL_NEVER;
}
