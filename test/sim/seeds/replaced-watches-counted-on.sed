# lock/attempt_member.c: the watches of a handle that was replaced are counted on
/case ZKL_LINK_REPLACED:/,/break;/ s/zkl_attempt_tell(attempt, ZKL_EV_OWN_CHANGED);//
