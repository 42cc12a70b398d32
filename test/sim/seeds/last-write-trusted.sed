# lease.c: the last answered write counts, without the two before it
s/relayed->sent_ns + safe_timeout(lease)/sent_ns + safe_timeout(lease)/g; s/previous ? beat_answered_by(lease, ZKL_BEAT_READ, previous->sent_ns - relay_lag(lease)) : NULL/beat_answered_by(lease, ZKL_BEAT_READ, now_ns)/
