# lease.c: the clocks of client and leader run alike
s/return lease->timeout_ns - lease->timeout_ns \/ RATE_ERROR;/return lease->timeout_ns;/
