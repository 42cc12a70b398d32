/* Makes what a plan says happen. */
#ifndef SIMULATOR_ITEMS_H
#define SIMULATOR_ITEMS_H

#include "run.h"

void items_play(struct run *run, const struct item *item);

#endif
