# machine_step.c: an end is told although a result was
/^void zkl_step_end(/,/^}/ s/if (step->machine->has_result)/if (step->machine->was_granted)/
