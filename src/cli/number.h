/* Numbers as people type them. On failure one line says at which character and what is right. Pure. */
#ifndef CLI_NUMBER_H
#define CLI_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is wrong with a text, in one line. */
struct number_problem {
    char text[512];
};

/* What an option accepts: bounds in its own unit (milliseconds for seconds). */
struct number_range {
    int64_t least;
    int64_t most;
};

/* "2.5" is 2500. Anything above 0 is at least 1 ms, since 0 has a meaning of its own. */
bool number_parse_seconds(const char *text, struct number_range range, int64_t *out_ms,
                          struct number_problem *out_problem);

bool number_parse_integer(const char *text, struct number_range range, int64_t *out_value,
                          struct number_problem *out_problem);

/* A fencing token: decimal, of 63 bits. */
bool number_parse_token(const char *text, uint64_t *out_token, struct number_problem *out_problem);

/* A signal by name ("TERM", "SIGTERM", "RTMIN") or number. */
bool number_parse_signal(const char *text, int *out_signal, struct number_problem *out_problem);

/* A signal's name without SIG; a number for one that has none. The text lives until the next call. */
const char *number_signal_name(int signal_number);

/* Milliseconds as seconds, without needless digits: "2.5". */
void number_print_seconds(int64_t ms, char *buffer, size_t size);

#endif
