# queue.c: the one ahead that a survey found counts as exclusive for good
s/view.last.kind == ZKL_KIND_LOCK \&\& !czxids/view.last.kind == ZKL_KIND_LOCK/
