# queue.c: a reader does not count the writer whose number is the one before its own
s/if (zkl_kind_is_shared(name.kind) \&\& zkl_kind_is_shared(view->own.kind))/if (zkl_kind_is_shared(view->own.kind) \&\& (zkl_kind_is_shared(name.kind) || name.number + 1 == view->own.number))/
