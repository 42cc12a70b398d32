# queue.c: whoever is ahead counts as exclusive for good
s/ \&\& view.last.kind == ZKL_KIND_LOCK//
