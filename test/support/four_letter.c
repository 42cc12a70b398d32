#include "support/four_letter.h"

#include "support/eventually.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0)
        return connection;
    close(connection);
    return -1;
}

static bool read_to_end(int connection, int timeout_ms, char *out_text, size_t size)
{
    int64_t deadline_ms = monotonic_ms() + timeout_ms;
    struct pollfd input = {.fd = connection, .events = POLLIN};
    size_t length = 0;
    char surplus[4096];

    for (;;) {
        bool has_room = length + 1 < size;
        ssize_t count;

        if (poll(&input, 1, remaining_ms(deadline_ms)) <= 0)
            return false;
        count = read(connection, has_room ? out_text + length : surplus,
                     has_room ? size - 1 - length : sizeof(surplus));
        if (count <= 0)
            break;
        if (has_room)
            length += (size_t)count;
    }
    out_text[length] = '\0';
    return length > 0;
}

bool four_letter_ask(int port, const char *word, int timeout_ms, char *out_text, size_t size)
{
    int connection = connect_to(port);
    bool is_answered;

    if (connection < 0)
        return false;
    is_answered = send(connection, word, strlen(word), MSG_NOSIGNAL) == (ssize_t)strlen(word)
                  && read_to_end(connection, timeout_ms, out_text, size);
    close(connection);
    return is_answered;
}
