# machine_news.c: a deletion that is noticed before the answer of the watch flight is forgotten
s/machine->ahead_is_gone |= is_gone;//
