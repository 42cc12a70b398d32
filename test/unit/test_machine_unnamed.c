/* Values that no enumerator names: a state, an event or an answer from nowhere moves nothing. */
#include <string.h>

#include "machine_story.h"

static void (*const ways[])(void) = {
    init,       go_creating, go_preparing,    go_finding,           go_listing, go_surveying, go_watching,
    go_waiting, go_lost,     go_waiting_deep, go_waiting_for_lease, go_held,    go_deleting,  go_gone,
};

#define WAY_COUNT (sizeof ways / sizeof ways[0])

static void event_from_nowhere_changes_nothing(void)
{
    static const enum zkl_event_type events[] = {ZKL_EV_COUNT, ZKL_EV_COUNT + 1, (enum zkl_event_type)-1};

    for (size_t i = 0; i < WAY_COUNT; i++) {
        for (size_t j = 0; j < sizeof events / sizeof events[0]; j++) {
            struct zkl_machine before;
            ways[i]();
            before = machine;
            tell(events[j]);
            CU_ASSERT_EQUAL(memcmp(&before, &machine, sizeof machine), 0);
            EXPECT_ASK(ZKL_ASK_NOTHING);
            EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
        }
    }
}

static void state_from_nowhere_is_left_by_nothing_that_happens(void)
{
    static const enum zkl_state states[] = {ZKL_STATE_COUNT, ZKL_STATE_COUNT + 1, (enum zkl_state)-1};

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        for (int event = 0; event <= ZKL_EV_COUNT; event++) {
            if (event >= ZKL_EV_CREATED && event <= ZKL_EV_UNSENT)
                continue;
            init();
            machine.state = states[i];
            tell((enum zkl_event_type)event);
            CU_ASSERT_EQUAL(machine.state, states[i]);
            EXPECT_ASK(ZKL_ASK_NOTHING);
            EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
        }
    }
}

static void answer_from_nowhere_moves_nothing(void)
{
    static const struct {
        void (*go)(void);
        enum zkl_event_type event;
    } cases[] = {
        {go_creating, ZKL_EV_CREATED},   {go_preparing, ZKL_EV_PREPARED}, {go_listing, ZKL_EV_LISTED},
        {go_surveying, ZKL_EV_SURVEYED}, {go_deleting, ZKL_EV_DELETED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum zkl_state state;
        cases[i].go();
        state = machine.state;
        answer(cases[i].event, (enum zkl_answer)99, ZKL_ANSWER_OK);
        EXPECT_STATE(state);
        EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
        CU_ASSERT_FALSE(did.zombie);
    }
    go_watching();
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, (enum zkl_answer)99);
    EXPECT_STATE(ZKL_WATCHING);
    EXPECT_ASK(ZKL_ASK_WATCH);
}

static const struct suite_test tests[] = {
    SUITE_TEST(event_from_nowhere_changes_nothing),
    SUITE_TEST(state_from_nowhere_is_left_by_nothing_that_happens),
    SUITE_TEST(answer_from_nowhere_moves_nothing),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine_unnamed", tests);
}
