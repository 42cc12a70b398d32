/* Free TCP ports on loopback for servers and proxies.
 *
 * They lie below the range of outgoing connections: a port that a server gives up for a while (restart, a
 * proxy that is down) then cannot be taken by somebody's outgoing connection, and a client that knocks
 * there cannot be connected to itself. Test programs that run at once do not get the same port. */
#ifndef ZKLOCK_TEST_PORT_H
#define ZKLOCK_TEST_PORT_H

struct port {
    int number;
    int reservation;    /* a descriptor; the port stays ours until it is closed */
};

/* Ends the test program when no port is free. */
struct port port_reserve(void);
void port_release(struct port *port);

#endif
