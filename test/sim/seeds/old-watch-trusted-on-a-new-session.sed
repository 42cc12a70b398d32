# machine_news.c: a contender that queues again believes that its new node is watched
/^static void queue_again/,/^}/ s/    machine->own_is_watched = false;//
