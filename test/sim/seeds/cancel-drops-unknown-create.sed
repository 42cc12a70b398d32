# machine_news.c: giving up while a create is being found ends at once
/case ZKL_FINDING:/,/break;/ s/zkl_step_end(step, why);/zkl_step_end_and_clean(step, why);/
