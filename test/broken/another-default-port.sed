# session/servers.c: a host without a port gets another one than the documented
s/int port = ZKL_DEFAULT_PORT;/int port = ZKL_DEFAULT_PORT + 1;/
