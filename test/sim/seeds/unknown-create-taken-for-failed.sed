# machine_answers.c: a create whose answer was lost is sent again at once
s/        zkl_step_move(step, ZKL_FINDING);//
