# machine_answers.c: a first delete that finds no node tells a lost lock as released
s/machine->delete_may_be_done ? ZKL_OUTCOME_OK : ZKL_OUTCOME_LOST/ZKL_OUTCOME_OK/
