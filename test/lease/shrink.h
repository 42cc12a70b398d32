/* Makes a schedule that ends in a violation shorter, as far as leaving moves out does it. */
#ifndef TEST_LEASE_SHRINK_H
#define TEST_LEASE_SHRINK_H

#include "explore.h"

void shrink(struct finding *finding);

#endif
