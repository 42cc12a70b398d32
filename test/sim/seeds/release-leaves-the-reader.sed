# machine_step.c: a release during the downgrade forgets that there may be a reader
/^void zkl_step_move/,/^}/ s/^    machine->state = to;/    machine->state = to;\n    machine->is_downgrading = machine->downgrade_may_be_done = false;/
