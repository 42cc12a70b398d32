# session/session.c: nobody is told that the lease is over
s/has_lease ? ZKL_LINK_LEASED : ZKL_LINK_LAPSED/ZKL_LINK_LEASED/
