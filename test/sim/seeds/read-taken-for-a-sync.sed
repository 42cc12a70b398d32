# lease.c: a read shows that the leader was told, as a sync does
s/beat_answered_by(lease, ZKL_BEAT_SYNC, sent_ns)/beat_answered_by(lease, ZKL_BEAT_READ, sent_ns)/
