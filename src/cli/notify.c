#include "notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { TEXT_SIZE = 2048 };

void notify_manager(const char *format, ...)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = name ? strlen(name) : 0;
    char text[TEXT_SIZE];
    va_list arguments;
    int fd;

    if (length < 2 || length >= sizeof(address.sun_path) || (name[0] != '/' && name[0] != '@'))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    memcpy(address.sun_path, name, length);
    /* An abstract socket begins with a NUL, which is written as '@'. */
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
        text[0] = '\0';
    close(fd);
}
