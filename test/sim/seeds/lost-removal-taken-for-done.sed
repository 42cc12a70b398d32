# session/zombies.c: a removal without an answer is taken for done
s/reply->code == ZKL_CODE_OK || reply->code == ZKL_CODE_NO_NODE;/reply->code <= ZKL_CODE_NO_NODE;/
