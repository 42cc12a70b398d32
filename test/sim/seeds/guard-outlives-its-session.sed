# machine_news.c: the guard of the former session counts on the fresh one
/^static void queue_again/,/^}/s/machine->has_guard = false;//
