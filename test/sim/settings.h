/* The settings by name, and the suites made of them. */
#ifndef SIM_SETTINGS_H
#define SIM_SETTINGS_H

#include "world.h"

/* NULL: there is none of that name. */
const struct setting *settings_find(const char *name);
/* The setting at this place of a suite; NULL: past its end, or no such suite. */
const struct setting *settings_suite(const char *suite, int place);
void settings_print(void);

#endif
