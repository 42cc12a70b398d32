# machine_news.c: a waiter takes its node's end for somebody's doing, though its session may have ended
/^void zkl_step_on_own_gone/,/^}/ s/zkl_step_on_own_changed(step);/zkl_step_removed(step);/
