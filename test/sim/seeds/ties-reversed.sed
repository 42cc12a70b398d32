# queue.c: equal numbers are ordered against their creation
s/return (a_czxid > b_czxid) - (a_czxid < b_czxid);/return (a_czxid < b_czxid) - (a_czxid > b_czxid);/
