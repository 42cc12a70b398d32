# lock/flight_reply.c: whose session owns a node that was found is not asked
s/flight->event.owner_is_us = .*;/flight->event.owner_is_us = true;/
