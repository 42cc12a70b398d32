# machine_step.c: a grant needs no lease
s/if (step->event->has_lease \&\& machine->is_verified)/if (machine->is_verified)/
