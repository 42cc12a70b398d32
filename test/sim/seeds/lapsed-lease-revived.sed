# lease.c: evidence after a lapse prolongs the lease as if there had been none
/^static void prolong/,/^}/ s/if (lease->lapsed_ns == 0)/if (lease->lapsed_ns >= 0)/
s/if (lease->lapsed_ns != 0 && sent_ns < lease->evidence_from_ns)/if (lease->lapsed_ns < 0)/
