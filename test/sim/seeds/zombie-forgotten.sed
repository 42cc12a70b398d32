# machine_answers.c: a create that was not found is not handed on as a zombie
/^static void forget_create/,/^}/ s/step->actions.zombie = true;//
