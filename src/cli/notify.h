/* Tells the service manager what zklock does (sd_notify(3)), where NOTIFY_SOCKET names a socket; else nothing. */
#ifndef CLI_NOTIFY_H
#define CLI_NOTIFY_H

/* One or more lines of NAME=VALUE. A message that cannot be delivered is lost. */
void notify_manager(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
