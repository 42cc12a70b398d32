# lock/attempt.c: each wake-up begins the limit anew
/^void zkl_attempt_feed/,/^}/ s/event->has_lease = /if (attempt->limit_ns != ZKL_NEVER \&\& event->type != ZKL_EV_START)\n        attempt->limit_ns = zkl_session_now(attempt->session) + 100000 * ZKL_NS_PER_MS;\n    &/
