# machine.c: a holder that was granted at once does not watch its node
s/return machine->own_is_watched || machine->is_guard ? ZKL_ASK_NOTHING : ZKL_ASK_WATCH_OWN;/return ZKL_ASK_NOTHING;/
