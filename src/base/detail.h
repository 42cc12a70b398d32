/* Why something did not go well, in one line. It takes memory when there is something to say, since hardly anybody has;
 * when memory is short, nothing is said. */
#ifndef ZKL_DETAIL_H
#define ZKL_DETAIL_H

/* What does not fit is cut off. */
#define ZKL_DETAIL_SIZE 256

/* All zero: nothing. */
struct zkl_detail {
    char *text;
};

/* In the place of what was said before, which may be among the arguments. */
void zkl_detail_say(struct zkl_detail *detail, const char *format, ...) __attribute__((format(printf, 2, 3)));
void zkl_detail_clear(struct zkl_detail *detail);

/* Never NULL; empty: nothing. */
static inline const char *zkl_detail_text(const struct zkl_detail *detail)
{
    return detail->text ? detail->text : "";
}

#endif
