/* Hands over to the subcommand. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "commands.h"
#include "inherit.h"
#include "message.h"
#include "options.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"exec", exec_main},     {"elect", elect_main},   {"status", status_main}, {"list", list_main},     {"wait", wait_main},
    {"verify", verify_main}, {"revoke", revoke_main}, {"break", break_main},   {"doctor", doctor_main},
    {"permits", permits_main}, {"server", server_main}, {"demo", demo_main},
};

static const char help[] =
    "Usage: zklock SUBCOMMAND [OPTION]... [ARGUMENT]...\n"
    "A distributed lock on Apache ZooKeeper.\n"
    "\n"
    "  exec PATH -- COMMAND [ARG...]   run COMMAND while holding the lock PATH\n"
    "  elect PATH -- COMMAND [ARG...]  the same as leader, and again after each loss\n"
    "  status PATH...                  who holds it, and who waits, in order\n"
    "  list [PATH]                     all locks below PATH, one line each\n"
    "  wait PATH                       return when nobody holds it\n"
    "  verify PATH TOKEN               is this token the holder's?\n"
    "  revoke PATH                     ask the holder to let go\n"
    "  break --contender NAME PATH     delete exactly that contender\n"
    "  permits PATH [N]                how many may hold it, or another number\n"
    "  doctor [PATH]                   dead-locks, dead owners, foreign names...\n"
    "  server                          a private ZooKeeper, for trying things out\n"
    "  demo                            workers that share one counter, and a verdict\n"
    "\n"
    "Options before the subcommand: -h, --help; -V, --version\n"
    "The servers come from -S, --servers HOST[:PORT],... or from ZKLOCK_SERVERS.\n"
    "zklock SUBCOMMAND --help says more.\n";

int commands_finish(int status)
{
    errno = EIO; /* of a write that failed earlier no more is known */
    if (fflush(stdout) == 0 && !ferror(stdout) && inherit_has_output())
        return status;
    message_error("cannot write to standard output: %s", strerror(inherit_has_output() ? errno : EBADF));
    return EXIT_SYSTEM;
}

int commands_print(const char *text)
{
    fputs(text, stdout);
    return commands_finish(0);
}

int commands_print_version(void)
{
    char line[64];

    snprintf(line, sizeof(line), "zklock %s\n", zklock_version());
    return commands_print(line);
}

int main(int argc, char **argv)
{
    /* After /proc/self/exe was executed, by which elect begins again, it would be "exe". */
    prctl(PR_SET_NAME, "zklock");
    if (!inherit_record()) {
        message_error("cannot take note of the descriptors that were handed over");
        return EXIT_SYSTEM;
    }
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        message_usage("which subcommand? see zklock --help");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)
        return commands_print(help);
    if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)
        return commands_print_version();
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    message_usage("unknown subcommand '%s'; see zklock --help", argv[1]);
    return EXIT_USAGE;
}
