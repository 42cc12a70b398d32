# lease.c: a sync proves the lease, as a quorum write does
s/if (kind == ZKL_BEAT_WRITE)/if (kind >= ZKL_BEAT_SYNC)/
