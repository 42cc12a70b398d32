#include "support/port.h"

#include "support/suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOWEST_PORT = 10240, USUAL_OUTGOING_PORT = 32768, MOST_ATTEMPTS = 1000 };

static int lowest_outgoing_port(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    int lowest = USUAL_OUTGOING_PORT;

    if (file) {
        if (fscanf(file, "%d", &lowest) != 1 || lowest < 2 * LOWEST_PORT)
            lowest = USUAL_OUTGOING_PORT;
        fclose(file);
    }
    return lowest;
}

/* Abstract socket names are a register that the kernel keeps for a network namespace and clears when the
 * owner ends. */
static int enter_register(int number)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int entry = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "zklock-test-port-%d", number);
    if (bind(entry, (struct sockaddr *)&name, sizeof(name)) == 0)
        return entry;
    close(entry);
    return -1;
}

static bool is_free(int number)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
    int attempt = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    bool is_bound;

    /* The wildcard address: nobody may listen there on any address. */
    setsockopt(attempt, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    is_bound = bind(attempt, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(attempt, 1) == 0;
    close(attempt);
    return is_bound;
}

struct port port_reserve(void)
{
    int range = lowest_outgoing_port() - LOWEST_PORT;

    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        struct port port;
        unsigned chance = 0;

        if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
            break;
        port.number = LOWEST_PORT + (int)(chance % (unsigned)range);
        port.reservation = enter_register(port.number);
        if (port.reservation < 0)
            continue;
        if (is_free(port.number))
            return port;
        close(port.reservation);
    }
    suite_abandon("no free port on 127.0.0.1");
}

void port_release(struct port *port)
{
    if (port->reservation >= 0)
        close(port->reservation);
    port->reservation = -1;
}
