# machine_news.c: any event of the one ahead is taken for its deletion
s/if (machine->is_behind \&\& is_gone)/if (machine->is_behind)/
