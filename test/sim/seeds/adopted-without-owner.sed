# machine_answers.c: a node with the own token is trusted whoever owns it
/^static void adopt/,/^}/ s/machine->is_verified = false;/machine->is_verified = true;/
