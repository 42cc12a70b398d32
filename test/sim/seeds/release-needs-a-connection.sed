# machine_news.c: a release during a cut ends without a delete
/^void zkl_step_on_release/,/^}/ s/if (machine->node_is_known)/if (machine->node_is_known \&\& machine->is_connected)/
