/* A schedule in words, one line a moment. */
#ifndef TEST_LEASE_WORDS_H
#define TEST_LEASE_WORDS_H

#include <stdio.h>

#include "explore.h"

void words_print(FILE *out, const struct finding *finding);

#endif
