/* A host of its own for clients: a network namespace, joined by a cable to the bridge of a compose ensemble. It ends
 * with the test program, whatever way that ends. A function that cannot do its work ends the test program. */
#ifndef ZKLOCK_TEST_ENSEMBLE_HOST_H
#define ZKLOCK_TEST_ENSEMBLE_HOST_H

#include "ensemble/compose.h"

struct host;

/* Why no namespaces can be made here, or NULL. */
const char *host_missing(void);

/* number: distinct for each host of the ensemble, from 1 to 200. */
struct host *host_start(const struct compose *compose, int number);
/* What still runs there loses its network. Accepts NULL. */
void host_free(struct host *host);

/* A program runs there as: nsenter ENTRY -- PROGRAM... */
const char *host_entry(const struct host *host);

/* Every packet from and to it vanishes, in silence; only those from it; only those to it. And all arrive again. */
void host_cut(struct host *host);
void host_mute(struct host *host);
void host_deafen(struct host *host);
void host_heal(struct host *host);

#endif
