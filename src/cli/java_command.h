/* How to run a ZooKeeper server here: which Java, which classes. */
#ifndef CLI_JAVA_COMMAND_H
#define CLI_JAVA_COMMAND_H

#include <stdbool.h>

enum { JAVA_COMMAND_WORDS = 24 };

struct java_command {
    char *words[JAVA_COMMAND_WORDS + 1]; /* argv */
    int count;
};

/* For a server whose configuration is `directory`/zoo.cfg. False, with a message, when Java or ZooKeeper is
 * missing. */
bool java_command_init(struct java_command *command, const char *directory);
void java_command_clear(struct java_command *command);

#endif
