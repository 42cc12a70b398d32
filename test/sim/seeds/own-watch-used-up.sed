# machine_news.c: a change of the own node during the watch flight is forgotten
s/        machine->own_has_changed = true;//
