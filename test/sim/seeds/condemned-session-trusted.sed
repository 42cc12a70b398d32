# lease.c: after a lapse no proof is waited for
s/lease->proof_from_ns = now_ns + condemned_time(lease);/lease->proof_from_ns = 0;/
s/lease->evidence_from_ns = now_ns + condemned_time(lease);/lease->evidence_from_ns = sent_ns;/
