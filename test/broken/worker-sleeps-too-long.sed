# base/runtime_posix.c: an earlier wish does not wake a worker that sleeps
/^static void worker_wake/,/^}/ s/if (when_ns < worker->wish_ns)/if (worker->wish_ns == ZKL_NEVER)/
