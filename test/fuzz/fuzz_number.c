/* Numbers, tokens and signals in the command's options: exactly what the rules allow is accepted, and means what it says. */
#include "cli/number.h"

#include <signal.h>

#include "fuzz.h"

#define DIGITS "0123456789"
/* Digits before the point beyond which a number means nothing to anybody. */
#define MOST_DIGITS 12

static struct number_range take_range(struct input *input)
{
    int64_t least = (int64_t)take_word(input, 3);
    int64_t most = least + (int64_t)take_word(input, 6);

    return take_byte(input) % 4 ? (struct number_range){0, INT64_C(1000000000000000)}
                                : (struct number_range){least, most};
}

static void expect_told(bool was_accepted, bool is_expected, const struct number_problem *problem)
{
    EXPECT(was_accepted == is_expected);
    EXPECT(memchr(problem->text, '\0', sizeof problem->text) != NULL);
    EXPECT((problem->text[0] == '\0') == was_accepted);
}

static bool is_within(int64_t value, struct number_range range)
{
    return value >= range.least && value <= range.most;
}

static void read_integer(const char *text, struct number_range range)
{
    struct number_problem problem = {""};
    size_t size = strlen(text);
    int64_t meant = strtoll(text, NULL, 10);
    int64_t value = -1;
    bool is_accepted = number_parse_integer(text, range, &value, &problem);
    bool is_number = size > 0 && strspn(text, DIGITS) == size && size <= MOST_DIGITS;

    expect_told(is_accepted, is_number && is_within(meant, range), &problem);
    EXPECT(value == (is_accepted ? meant : -1));
}

/* Digits, perhaps a point and more digits; rounded up to milliseconds. -1: something else. */
static int64_t milliseconds_of(const char *text)
{
    size_t whole = strspn(text, DIGITS);
    bool has_point = text[whole] == '.';
    const char *fraction = text + whole + has_point;
    size_t size = strspn(fraction, DIGITS);
    char digits[4] = "000";

    if (whole == 0 || whole > MOST_DIGITS || (has_point ? size == 0 : size > 0) || fraction[size] != '\0')
        return -1;
    memcpy(digits, fraction, size < 3 ? size : 3);
    return strtoll(text, NULL, 10) * 1000 + atoi(digits) + (size > 3 && fraction[3 + strspn(fraction + 3, "0")]);
}

static void read_seconds(const char *text, struct number_range range)
{
    struct number_problem problem = {""};
    int64_t meant = milliseconds_of(text);
    int64_t ms = -1;
    bool is_accepted = number_parse_seconds(text, range, &ms, &problem);

    expect_told(is_accepted, meant >= 0 && is_within(meant, range), &problem);
    EXPECT(ms == (is_accepted ? meant : -1));
}

static void write_seconds(int64_t ms)
{
    struct number_range range = {0, INT64_MAX};
    struct number_problem problem;
    char text[40];
    int64_t again;

    number_print_seconds(ms, text, sizeof text);
    EXPECT(number_parse_seconds(text, range, &again, &problem));
    EXPECT(again == ms);
    EXPECT(strchr(text, '.') == NULL || text[strlen(text) - 1] != '0');
}

/* A token is what %llu writes, at most that of the largest czxid; zeros in front do no harm. */
static void read_token(const char *text)
{
    struct number_problem problem = {""};
    size_t size = strlen(text);
    uint64_t meant = strtoull(text, NULL, 10);
    uint64_t token = UINT64_MAX;
    bool is_accepted = number_parse_token(text, &token, &problem);
    bool is_number = size > 0 && strspn(text, DIGITS) == size && size <= 19 && meant <= INT64_MAX;

    expect_told(is_accepted, is_number, &problem);
    EXPECT(token == (is_accepted ? meant : UINT64_MAX));
}

static void read_signal(const char *text)
{
    struct number_problem problem = {""};
    int number = 0, again = 0;
    bool is_accepted = number_parse_signal(text, &number, &problem);

    EXPECT((problem.text[0] == '\0') == is_accepted);
    EXPECT(memchr(problem.text, '\0', sizeof problem.text) != NULL);
    EXPECT(is_accepted ? number >= 1 && number <= SIGRTMAX : number == 0);
    if (is_accepted) {
        EXPECT(number_parse_signal(number_signal_name(number), &again, &problem));
        EXPECT(number == again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    char *text = take_text(&input, 100);
    int64_t ms = (int64_t)take_word(&input, 6) % INT64_C(1000000000000000);
    struct number_range range = take_range(&input);

    read_integer(text, range);
    read_seconds(text, range);
    read_token(text);
    read_signal(text);
    write_seconds(ms);
    free(text);
    return 0;
}
