# machine_news.c: a holder goes on when its lease is over
/^void zkl_step_on_lapsed/,/^}/ s/step->machine->state == ZKL_HELD/step->machine->state == ZKL_NEW/
