#ifndef SIM_DESCRIBE_H
#define SIM_DESCRIBE_H

#include "steps.h"

struct text {
    char chars[160];
};

/* What a step does in the world before it; `who` stands for the client. */
void describe_step(const struct world *world, const struct step *step, char who, struct text *out_text);
void describe_client(const struct world *world, const struct client *client, struct text *out_text);
const char *describe_kind(enum step_kind kind);

#endif
