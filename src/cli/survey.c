#include "survey.h"

#include <stdlib.h>

#include "message.h"

enum options_result survey_options_read(int argc, char **argv, struct words *words, void *options)
{
    struct survey_options *own = options;
    struct option_rule common[COMMON_RULES];
    const struct option_rule rules[] = {
        {"json", 0, OPTION_FLAG, &own->is_json, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };
    enum options_result result;

    common_options_init(&own->common);
    own->is_json = false;
    common_options_rules(&own->common, common);
    result = options_read(argc, argv, common, rules, words);
    if (result != OPTIONS_READ)
        return result;
    if (words->count > 0 && !options_check_paths(argv[0], words, 1))
        return OPTIONS_WRONG;
    return common_options_settle(argv[0], &own->common, NULL) ? OPTIONS_READ : OPTIONS_WRONG;
}

const char *survey_root(const struct words *words)
{
    return words->count > 0 ? words->items[0] : "/";
}

static int read_queues(zklock_session *session, const struct common_options *common, struct survey *survey)
{
    for (size_t i = 0; i < survey->paths->count; i++) {
        const char *path = survey->paths->items[i];
        zklock_status status =
            zklock_queue_read(session, path, connection_limit_ms(common), &survey->queues[i]);

        /* "/" alone is no lock, though other tools may have put contenders there. */
        if (status == ZKLOCK_DENIED || status == ZKLOCK_BAD_ARGUMENT)
            survey->denied_count++;
        else if (status != ZKLOCK_OK)
            return subcommand_fail(session, common, path, "READ", status);
    }
    return 0;
}

int survey_read(zklock_session *session, const struct common_options *common, const char *path,
                struct survey *out_survey)
{
    zklock_status status;

    *out_survey = (struct survey){0};
    status = zklock_paths_read(session, path, connection_limit_ms(common), &out_survey->paths);
    if (status != ZKLOCK_OK)
        return subcommand_fail(session, common, path, "READ", status);
    out_survey->denied_count = out_survey->paths->denied_count;
    out_survey->queues = calloc(out_survey->paths->count + 1, sizeof(zklock_queue *));
    if (!out_survey->queues)
        return EXIT_SYSTEM;
    return read_queues(session, common, out_survey);
}

void survey_clear(struct survey *survey)
{
    for (size_t i = 0; survey->queues && i < survey->paths->count; i++)
        zklock_queue_free(survey->queues[i]);
    free(survey->queues);
    zklock_paths_free(survey->paths);
}
