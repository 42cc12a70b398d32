# queue.c: a writer does not count the readers ahead of it
s/if (zkl_kind_is_shared(name.kind) \&\& zkl_kind_is_shared(view->own.kind))/if (zkl_kind_is_shared(name.kind))/
