/* All locks below a path with their queues: what "list" shows and "doctor" looks at. */
#ifndef CLI_SURVEY_H
#define CLI_SURVEY_H

#include "subcommand.h"

struct survey {
    zklock_paths *paths;
    zklock_queue **queues; /* one a path; NULL: it may not be read */
    size_t denied_count;   /* directories and queues that may not be read */
};

/* Says what failed. Returns 0 or the exit status; to be cleared in any case. */
int survey_read(zklock_session *session, const struct common_options *common, const char *path,
                struct survey *out_survey);
void survey_clear(struct survey *survey);

/* The options of both: "--json [PATH]". */
struct survey_options {
    struct common_options common;
    bool is_json;
};
enum options_result survey_options_read(int argc, char **argv, struct words *words, void *options);
/* The path that was given, or "/". */
const char *survey_root(const struct words *words);

#endif
