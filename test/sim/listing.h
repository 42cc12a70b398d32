/* What the shipped queue makes of a listing; the names sort opposite to their creation. */
#ifndef SIM_LISTING_H
#define SIM_LISTING_H

#include "world.h"

/* Fills the place of `own` (a slot, or NONE or UNBORN) among the children into a reply. */
void listing_place(const struct world *world, uint8_t children, uint8_t own, struct message *reply);
/* The same after a survey that found `present` of the children there, for the driver's event. */
void listing_survey(const struct world *world, uint8_t children, uint8_t present, uint8_t own,
                    struct message *reply);
/* The place in a reply as the machine gets it. */
struct zkl_place listing_unpack(const struct message *reply);

#endif
