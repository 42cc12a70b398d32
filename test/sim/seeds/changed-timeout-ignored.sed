# lease.c: another session timeout at a reconnect is no lapse
s/} else if (lease->timeout_ns != timeout_ns) {/} else if (timeout_ns == 0) {/
