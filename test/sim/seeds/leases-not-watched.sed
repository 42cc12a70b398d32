# lock/flight_lease.c: whoever stands in front does not hear of leases that go
/struct zkl_request leases/s/\.with_watch = is_watching/.with_watch = false/
