# lease.c: being connected again prolongs the lease
s/lease->anchor_ns = lease->newest_sent_ns;/lease->until_ns = now_ns + safe_timeout(lease);/
