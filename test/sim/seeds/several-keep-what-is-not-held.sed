# multi.c: who finds somebody ahead keeps his places at the paths beyond
s/is_alone ? ZKL_MULTI_WAIT : ZKL_MULTI_STAND/is_alone ? ZKL_MULTI_WAIT : ZKL_MULTI_WAIT/
