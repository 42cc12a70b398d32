# machine_news.c: a lease that is earned again revives a lost holder
/^void zkl_step_on_leased/,/^}/ s/^{/{\n    if (step->machine->state == ZKL_LOST)\n        step->machine->state = ZKL_HELD;/
