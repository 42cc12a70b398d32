# session/session.c: whether the lease runs is a flag, not a look at the clock
/^bool zkl_session_has_lease/,/^}/ s/session->lease.until_ns > now_ns/session->had_lease \&\& now_ns/
/^int64_t zkl_session_lease_remaining/,/^}/ s/zkl_lease_remaining(&session->lease, zkl_session_now(session))/session->had_lease ? session->lease.timeout_ns : 0/
