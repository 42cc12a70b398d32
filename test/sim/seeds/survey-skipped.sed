# queue.c: equal numbers need no survey
s/        place->needs_survey = true;//
