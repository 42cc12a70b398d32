# machine.c: a lease is made without waiting for the guard
s/return machine->is_guarded \&\& !machine->has_guard ? ZKL_ASK_NOTHING : ZKL_ASK_CREATE;/return ZKL_ASK_CREATE;/
