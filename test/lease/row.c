#include "row.h"

#include <stdio.h>

#include "roam.h"
#include "shrink.h"
#include "words.h"

#define SLOW_PPM (-10000) /* our clock shows 0.99 where the leader's shows 1, */
#define FAST_PPM 10101    /* or the other way round */
#define ROAM_SEED UINT64_C(0x6c65617365)
#define ROAM_MOVES 400

static struct setting at_rate(const struct row *row, int variant)
{
    static const int rates_ppm[] = {0, SLOW_PPM, FAST_PPM};
    struct setting setting = row->setting;

    if (row->variations & WITH_RATES)
        setting.rate_ppm = rates_ppm[variant];
    return setting;
}

static void explore_variants(const struct row *row, struct finding *out_finding)
{
    int rate_count = row->variations & WITH_RATES ? 3 : 1;
    int64_t silence_step_ms = 3 * row->bounds.grid_ms;
    int64_t longest_ms = row->variations & WITH_SILENCES ? row->setting.timeout_ms - silence_step_ms : 0;

    for (int variant = 0; variant < rate_count; variant++) {
        for (int64_t untouched_ms = 0; untouched_ms <= longest_ms; untouched_ms += silence_step_ms) {
            struct setting setting = at_rate(row, variant);
            setting.untouched_ms += untouched_ms;
            if (row->method == METHOD_SHORTEST)
                explore_shortest(&setting, &row->bounds, out_finding);
            else
                explore(&setting, &row->bounds, row->method == METHOD_EXAMPLE, out_finding);
        }
    }
}

void row_run(const struct row *row, int scale, struct finding *out_finding)
{
    struct journey journey = {row->bounds.most_states * scale, ROAM_SEED, ROAM_MOVES};

    finding_clear(out_finding);
    if (row->method == METHOD_ROAM)
        roam(&row->setting, &journey, out_finding);
    else
        explore_variants(row, out_finding);
    if (row->method == METHOD_EXAMPLE)
        shrink(out_finding);
}

/* A row that was cut short proves nothing, nor does one in which no lease ever ran. */
bool row_is_as_expected(const struct row *row, const struct finding *finding)
{
    return (finding->violations > 0) == row->is_violated && !finding->is_cut_short && finding->margin_ns != NEVER;
}

void row_print_heading(void)
{
    printf("%-36s %-44s %10s %10s %10s %12s\n", "rule", "against", "states", "schedules", "violations", "margin, ms");
}

void row_print(const struct row *row, const struct finding *finding)
{
    static const char *const as[] = {[METHOD_EXPLORE] = "", [METHOD_SHORTEST] = " (shortest)",
                                     [METHOD_EXAMPLE] = " (example)", [METHOD_ROAM] = " (random)"};
    bool is_one_schedule = row->method == METHOD_SHORTEST || row->method == METHOD_EXAMPLE;
    char against[64];

    snprintf(against, sizeof against, "%s%s", row->name, as[row->method]);
    printf("%-36s %-44s %10lld %10lld %10lld %12.3f%s\n", row->setting.rule->name, against,
           (long long)finding->states, (long long)finding->schedules, (long long)finding->violations,
           (double)finding->margin_ns / 1e6,
           row_is_as_expected(row, finding) ? "" : finding->is_cut_short ? "  CUT SHORT" : "  NOT AS EXPECTED");
    if (finding->violations > 0 && (is_one_schedule || !row->is_violated))
        words_print(stdout, finding);
    fflush(stdout);
}
