# machine_answers.c: a create that was given up in flight goes on
/^void zkl_step_on_created/,/^}/ s/if (machine->has_result)/if (machine->has_result \&\& machine->was_granted)/
