# machine_news.c: a change of the one ahead is ignored
/^void zkl_step_on_ahead/,/^}/ s/zkl_step_move(step, ZKL_WATCHING);/machine->is_behind = true;/
