# machine.c: a holder that was granted at once does not watch its node
s/        return ZKL_ASK_WATCH_OWN;/        return ZKL_ASK_NOTHING;/
