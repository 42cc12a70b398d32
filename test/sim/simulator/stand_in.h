/* What the library asks of the system in a virtual world. */
#ifndef SIMULATOR_STAND_IN_H
#define SIMULATOR_STAND_IN_H

/* The library takes this one thread for one of several; 0: for what it is. */
void stand_in_for_thread(int number);

#endif
