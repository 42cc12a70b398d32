/* What people type, and what strangers wrote: numbers, signals, text made safe. */
#include "number.h"
#include "safe_text.h"
#include "support/suite.h"

#include <locale.h>
#include <signal.h>
#include <string.h>

static const struct number_range any = {0, INT64_C(315360000000)};
static struct number_problem problem;

static int64_t seconds(const char *text)
{
    int64_t ms = -1;

    return number_parse_seconds(text, any, &ms, &problem) ? ms : -1;
}

static void seconds_may_have_decimals(void)
{
    CU_ASSERT_EQUAL(seconds("0"), 0);
    CU_ASSERT_EQUAL(seconds("2.5"), 2500);
    CU_ASSERT_EQUAL(seconds("0.001"), 1);
    CU_ASSERT_EQUAL(seconds("8640000"), INT64_C(8640000000));
    CU_ASSERT_EQUAL(seconds("007.250"), 7250);
}

static void smallest_time_is_never_rounded_to_none(void)
{
    CU_ASSERT_EQUAL(seconds("0.0001"), 1);
    CU_ASSERT_EQUAL(seconds("1.2340001"), 1235);
    CU_ASSERT_EQUAL(seconds("1.2340000"), 1234);
}

static void odd_numbers_are_refused(void)
{
    static const char *const odd[] = {"",
                                      "-1",
                                      "+1",
                                      "abc",
                                      "1e3",
                                      "inf",
                                      "nan",
                                      "0x10",
                                      " 5",
                                      "5 ",
                                      "1.",
                                      ".5",
                                      "1..2",
                                      "2,5",
                                      "1.2.3",
                                      "5s",
                                      "99999999999999999999",
                                      "315360001"};

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        CU_ASSERT_EQUAL(seconds(odd[i]), -1);
}

static void problem_names_the_place_and_what_is_right(void)
{
    seconds("2,5");
    CU_ASSERT_STRING_EQUAL(problem.text,
                           "'2,5': character 2 (',') does not belong there; give seconds from 0 to "
                           "315360000, such as 2.5");
    seconds("1.");
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "ends at character 2 where a digit is missing"));
    seconds("");
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "is empty"));
}

static void whole_numbers_keep_to_their_range(void)
{
    int64_t value = -1;

    CU_ASSERT_TRUE(number_parse_integer("255", (struct number_range){0, 255}, &value, &problem));
    CU_ASSERT_EQUAL(value, 255);
    CU_ASSERT_FALSE(number_parse_integer("256", (struct number_range){0, 255}, &value, &problem));
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "give a whole number from 0 to 255"));
    CU_ASSERT_FALSE(number_parse_integer("1.5", (struct number_range){0, 255}, &value, &problem));
    CU_ASSERT_FALSE(
        number_parse_integer("18446744073709551617", (struct number_range){0, 255}, &value, &problem));
    CU_ASSERT_EQUAL(value, 255);
}

static void signals_go_by_name_or_number(void)
{
    int number = 0;

    CU_ASSERT_TRUE(number_parse_signal("TERM", &number, &problem));
    CU_ASSERT_EQUAL(number, SIGTERM);
    CU_ASSERT_TRUE(number_parse_signal("sigint", &number, &problem));
    CU_ASSERT_EQUAL(number, SIGINT);
    CU_ASSERT_TRUE(number_parse_signal("9", &number, &problem));
    CU_ASSERT_EQUAL(number, SIGKILL);
    CU_ASSERT_FALSE(number_parse_signal("NOPE", &number, &problem));
    CU_ASSERT_FALSE(number_parse_signal("0", &number, &problem));
    CU_ASSERT_FALSE(number_parse_signal("", &number, &problem));
    CU_ASSERT_FALSE(number_parse_signal("99", &number, &problem));
}

static void printed_seconds_have_no_needless_digits(void)
{
    char text[32];

    number_print_seconds(2500, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, "2.5");
    number_print_seconds(60000, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, "60");
    number_print_seconds(1, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, "0.001");
}

static const char *made_safe(const char *text, size_t size)
{
    static char safe[256];

    safe_text(text, size, safe, sizeof(safe));
    return safe;
}

static void control_characters_are_escaped(void)
{
    CU_ASSERT_STRING_EQUAL(made_safe("a\nb\tc\x1b[31m\x7f", 11), "a\\nb\\tc\\x1b[31m\\x7f");
    CU_ASSERT_STRING_EQUAL(made_safe("a\0b", 3), "a\\x00b");
}

static void what_is_no_utf8_is_escaped(void)
{
    CU_ASSERT_STRING_EQUAL(made_safe("\xff\xc0\x80", 3), "\\xff\\xc0\\x80");
    CU_ASSERT_STRING_EQUAL(made_safe("\xed\xa0\x80", 3), "\\xed\\xa0\\x80");
    CU_ASSERT_STRING_EQUAL(made_safe("\xe2\x82", 2), "\\xe2\\x82");
}

static void letters_of_other_scripts_depend_on_the_locale(void)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(setlocale(LC_CTYPE, "C.UTF-8"));
    CU_ASSERT_STRING_EQUAL(made_safe("\xc3\xbc", 2), "\xc3\xbc");
    CU_ASSERT_STRING_EQUAL(made_safe("\xe2\x80\xae", 3), "\\u202e");
    CU_ASSERT_STRING_EQUAL(made_safe("\xc2\x9b", 2), "\\u009b");
    setlocale(LC_CTYPE, "C");
    CU_ASSERT_STRING_EQUAL(made_safe("\xc3\xbc", 2), "\\u00fc");
}

static void long_text_is_cut_between_characters(void)
{
    char small[6];
    char text[32] = "abcdefgh";

    CU_ASSERT_EQUAL(safe_text("abc\x01", 4, small, sizeof(small)), 3);
    CU_ASSERT_STRING_EQUAL(small, "abc");
    safe_text_cut(text, 4);
    CU_ASSERT_STRING_EQUAL(text, "abc~");
    setlocale(LC_CTYPE, "C.UTF-8");
    strcpy(text, "\xe6\xbc\xa2\xe5\xad\x97");
    CU_ASSERT_EQUAL(safe_text_columns(text), 4);
    safe_text_cut(text, 3);
    CU_ASSERT_STRING_EQUAL(text, "\xe6\xbc\xa2~");
}

static const struct suite_test tests[] = {
    SUITE_TEST(seconds_may_have_decimals),
    SUITE_TEST(smallest_time_is_never_rounded_to_none),
    SUITE_TEST(odd_numbers_are_refused),
    SUITE_TEST(problem_names_the_place_and_what_is_right),
    SUITE_TEST(whole_numbers_keep_to_their_range),
    SUITE_TEST(signals_go_by_name_or_number),
    SUITE_TEST(printed_seconds_have_no_needless_digits),
    SUITE_TEST(control_characters_are_escaped),
    SUITE_TEST(what_is_no_utf8_is_escaped),
    SUITE_TEST(letters_of_other_scripts_depend_on_the_locale),
    SUITE_TEST(long_text_is_cut_between_characters),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "number", tests);
}
