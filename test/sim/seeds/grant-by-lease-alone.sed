# machine_news.c: a lease that is earned at the front grants without a listing
/^void zkl_step_on_leased/,/^}/ s/zkl_step_move(step, ZKL_LISTING)/zkl_step_come_to_front(step)/
