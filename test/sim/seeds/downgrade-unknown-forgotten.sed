# machine_answers.c: a downgrade whose answer was lost is over
s/        step->machine->downgrade_may_be_done = true;/        settle_downgrade(step, ZKL_OUTCOME_REFUSED);/
