#include "instants.h"

void instants_add(struct instants *instants, const struct world *world, int64_t at_ns)
{
    if (at_ns < world->now_ns + MOMENT_NS || instants->count == MOST_INSTANTS)
        return;
    for (int i = 0; i < instants->count; i++)
        if (instants->at_ns[i] == at_ns)
            return;
    instants->at_ns[instants->count++] = at_ns;
}

/* When R has passed since an answer, with and without an allowance for the rates. */
static void add_lag(const struct setting *setting, const struct world *world, int64_t answered_ns,
                    struct instants *instants)
{
    int64_t half_tick_ns = setting->tick_ms * MS / 2 + 100 * MS;
    int64_t quarter_ns = setting->timeout_ms * MS / 4 + 250 * MS;
    int64_t lag_ns = setting->rule->tick_is_known ? half_tick_ns : quarter_ns;

    instants_add(instants, world, world_time_of(setting, answered_ns + lag_ns));
    instants_add(instants, world, world_time_of(setting, answered_ns + lag_ns + lag_ns / 99 + 1));
}

static void add_by_client(const struct setting *setting, const struct world *world, struct instants *instants)
{
    const struct zkl_lease *lease = &world->lease;

    if (lease->beat_count > 0)
        add_lag(setting, world, lease->beats[lease->beat_count - 1].answered_ns, instants);
    if (lease->until_ns > 0)
        instants_add(instants, world, world_time_of(setting, lease->until_ns) - MS);
    if (lease->promised_ns > 0)
        instants_add(instants, world, world_time_of(setting, lease->proof_from_ns));
}

static void drop_beyond(struct instants *instants, int64_t latest_ns)
{
    int kept = 0;

    for (int i = 0; i < instants->count; i++)
        if (instants->at_ns[i] <= latest_ns)
            instants->at_ns[kept++] = instants->at_ns[i];
    instants->count = kept;
}

void instants_find(const struct setting *setting, const struct world *world, struct instants *out_instants)
{
    int64_t latest_ns = world_latest(setting, world);

    out_instants->count = 0;
    if (latest_ns != NEVER)
        instants_add(out_instants, world, latest_ns);
    for (int i = 0; i < setting->server_count; i++)
        if (server_is_pinging(setting, world, i) && !setting->pings_late)
            instants_add(out_instants, world, world->servers[i].pinged_ns + setting->tick_ms * MS / 2);
    instants_add(out_instants, world, world_session_end(setting, world));
    add_by_client(setting, world, out_instants);
    drop_beyond(out_instants, latest_ns);
}
