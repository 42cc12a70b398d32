# machine.c: an answer of an older flight counts
s/return machine->is_in_flight \&\& event->flight == machine->flight;/return machine->is_in_flight;/
