# queue.c: a reader waits for the contender right ahead of it, whatever that is
s/if (zkl_kind_is_shared(name.kind) \&\& zkl_kind_is_shared(view->own.kind))/if (false)/
