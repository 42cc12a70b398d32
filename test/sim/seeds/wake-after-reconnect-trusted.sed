# machine.c: the deletion of the one ahead is the grant even after a reconnect
s/        machine->is_next = false;//
