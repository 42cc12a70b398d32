# queue.c: the one ahead that a survey found counts as exclusive for good
/^static bool is_plain/,/^}/ s/if (view->czxids)/if (false)/
