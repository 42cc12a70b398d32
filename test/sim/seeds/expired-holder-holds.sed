# machine_news.c: the expiry of the session does not reach a holder
/^void zkl_step_on_expired/,/^}/ s/zkl_step_lose(step, ZKL_OUTCOME_EXPIRED);//
