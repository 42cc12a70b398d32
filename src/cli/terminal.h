/*
 * The terminal, handed to the command's process group and taken back. The command gets it at once when zklock
 * stands in the foreground with nobody beside it; when somebody does ("zklock exec ... | less"), only when
 * the command is stopped for want of it.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
    int fd;               /* -1: this process has none */
    bool is_handed_over;
    bool has_modes;
    struct termios modes; /* as the caller had set them */
};

/* Finds the controlling terminal. */
void terminal_open(struct terminal *terminal);
void terminal_close(struct terminal *terminal);

/* Whether our process group is in the foreground now. */
bool terminal_is_ours(const struct terminal *terminal);

/* Whether the command shall have the terminal from its start. */
bool terminal_suits_command(const struct terminal *terminal);

/* Hands it to `group` if it is ours; from then on Ctrl-C goes to the command alone. */
bool terminal_give(struct terminal *terminal, pid_t group);
void terminal_take_back(struct terminal *terminal);

/* For a command that had to be killed: it cannot put its changes back itself. */
void terminal_restore_modes(struct terminal *terminal);

#endif
