# session/session.c: replies of a handle that was left are believed
s/bool is_stale = handle != session->handle;/bool is_stale = false;/
