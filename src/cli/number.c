#include "number.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DIGITS = 12 };

__attribute__((format(printf, 2, 3)))
static void tell(struct number_problem *out_problem, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(out_problem->text, sizeof(out_problem->text), format, arguments);
    va_end(arguments);
}

/* Says where the text stops being a number. `at` counts from 0. */
static bool refuse(const char *text, size_t at, const char *what, struct number_problem *out_problem)
{
    if (text[0] == '\0')
        tell(out_problem, "is empty; %s", what);
    else if (text[at] == '\0')
        tell(out_problem, "'%s': ends at character %zu where a digit is missing; %s", text, at, what);
    else
        tell(out_problem, "'%s': character %zu ('%c') does not belong there; %s", text, at + 1, text[at],
             what);
    return false;
}

/* Reads digits from *at on; false when there is none or there are too many to mean anything. */
static bool read_digits(const char *text, size_t *at, int64_t *out_value)
{
    size_t first = *at;
    int64_t value = 0;

    while (isdigit((unsigned char)text[*at]) && *at - first < MAX_DIGITS)
        value = value * 10 + (text[(*at)++] - '0');
    *out_value = value;
    return *at > first;
}

/* Milliseconds of what stands behind the point, rounded up. */
static int64_t read_fraction(const char *text, size_t *at)
{
    int64_t ms = 0;
    int64_t unit = 100;
    bool has_rest = false;

    for (; isdigit((unsigned char)text[*at]); (*at)++, unit /= 10) {
        ms += (text[*at] - '0') * unit;
        has_rest = has_rest || (unit == 0 && text[*at] != '0');
    }
    return ms + has_rest;
}

void number_print_seconds(int64_t ms, char *buffer, size_t size)
{
    size_t length;

    if (ms % 1000 == 0) {
        snprintf(buffer, size, "%lld", (long long)(ms / 1000));
        return;
    }
    length = (size_t)snprintf(buffer, size, "%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
    while (length > 0 && length < size && buffer[length - 1] == '0')
        buffer[--length] = '\0';
}

static bool check_range(const char *text, int64_t value, struct number_range range, const char *what,
                        struct number_problem *out_problem)
{
    if (value >= range.least && value <= range.most)
        return true;
    tell(out_problem, "'%s': out of range; %s", text, what);
    return false;
}

bool number_parse_seconds(const char *text, struct number_range range, int64_t *out_ms,
                          struct number_problem *out_problem)
{
    char least[32];
    char most[32];
    char what[128];
    size_t at = 0;
    int64_t seconds;
    int64_t ms = 0;

    number_print_seconds(range.least, least, sizeof(least));
    number_print_seconds(range.most, most, sizeof(most));
    snprintf(what, sizeof(what), "give seconds from %s to %s, such as 2.5", least, most);
    if (!read_digits(text, &at, &seconds))
        return refuse(text, at, what, out_problem);
    if (text[at] == '.') {
        at++;
        if (!isdigit((unsigned char)text[at]))
            return refuse(text, at, what, out_problem);
        ms = read_fraction(text, &at);
    }
    if (text[at] != '\0' && !isdigit((unsigned char)text[at]))
        return refuse(text, at, what, out_problem);
    ms += seconds * 1000;
    if (text[at] != '\0')
        ms = INT64_MAX;
    if (!check_range(text, ms, range, what, out_problem))
        return false;
    *out_ms = ms;
    return true;
}

bool number_parse_integer(const char *text, struct number_range range, int64_t *out_value,
                          struct number_problem *out_problem)
{
    char what[96];
    size_t at = 0;
    int64_t value;

    snprintf(what, sizeof(what), "give a whole number from %lld to %lld", (long long)range.least,
             (long long)range.most);
    if (!read_digits(text, &at, &value))
        return refuse(text, at, what, out_problem);
    if (text[at] != '\0' && !isdigit((unsigned char)text[at]))
        return refuse(text, at, what, out_problem);
    if (text[at] != '\0')
        value = INT64_MAX;
    if (!check_range(text, value, range, what, out_problem))
        return false;
    *out_value = value;
    return true;
}

bool number_parse_token(const char *text, uint64_t *out_token, struct number_problem *out_problem)
{
    static const char what[] = "give a token as ZKLOCK_TOKEN shows it";
    size_t digits = strspn(text, "0123456789");
    uint64_t value = 0;

    if (digits == 0 || text[digits] != '\0')
        return refuse(text, digits, what, out_problem);
    for (size_t i = 0; i < digits; i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > INT64_MAX || digits > 19) {
            tell(out_problem, "'%s': out of range; %s", text, what);
            return false;
        }
    }
    *out_token = value;
    return true;
}

const char *number_signal_name(int signal_number)
{
    static char text[16];
    const char *name = sigabbrev_np(signal_number);

    if (name)
        return name;
    if (signal_number == SIGRTMIN)
        return "RTMIN";
    snprintf(text, sizeof(text), "%d", signal_number);
    return text;
}

static int signal_by_name(const char *text)
{
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;

    for (int number = 1; number < NSIG; number++) {
        const char *known = sigabbrev_np(number);

        if (known && strcasecmp(known, name) == 0)
            return number;
    }
    if (strcasecmp(name, "RTMIN") == 0)
        return SIGRTMIN;
    return strcasecmp(name, "RTMAX") == 0 ? SIGRTMAX : 0;
}

bool number_parse_signal(const char *text, int *out_signal, struct number_problem *out_problem)
{
    int64_t value = 0;

    if (isdigit((unsigned char)text[0])) {
        if (!number_parse_integer(text, (struct number_range){1, SIGRTMAX}, &value, out_problem))
            return false;
    } else {
        value = signal_by_name(text);
    }
    if (value == 0) {
        tell(out_problem, "'%s': no such signal; give a name or a number, such as TERM, INT or 15", text);
        return false;
    }
    *out_signal = (int)value;
    return true;
}
