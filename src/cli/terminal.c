#include "terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include "processes.h"

void terminal_open(struct terminal *terminal)
{
    *terminal = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)};
    if (terminal->fd >= 0)
        terminal->has_modes = tcgetattr(terminal->fd, &terminal->modes) == 0;
}

void terminal_close(struct terminal *terminal)
{
    if (terminal->fd >= 0)
        close(terminal->fd);
    terminal->fd = -1;
}

bool terminal_is_ours(const struct terminal *terminal)
{
    return terminal->fd >= 0 && tcgetpgrp(terminal->fd) == getpgrp();
}

bool terminal_suits_command(const struct terminal *terminal)
{
    return terminal_is_ours(terminal) && isatty(STDIN_FILENO) && !processes_share_group(getpgrp(), getpid());
}

bool terminal_give(struct terminal *terminal, pid_t group)
{
    pid_t foreground = terminal->fd >= 0 ? tcgetpgrp(terminal->fd) : -1;

    /* A child that was just started may have taken it already. */
    if (foreground != getpgrp() && foreground != group)
        return false;
    terminal->is_handed_over = tcsetpgrp(terminal->fd, group) == 0;
    return terminal->is_handed_over;
}

/* SIGTTOU is ignored, so that this works from the background, where we stand now. */
void terminal_take_back(struct terminal *terminal)
{
    if (terminal->is_handed_over)
        tcsetpgrp(terminal->fd, getpgrp());
    terminal->is_handed_over = false;
}

void terminal_restore_modes(struct terminal *terminal)
{
    if (terminal->has_modes && terminal_is_ours(terminal))
        tcsetattr(terminal->fd, TCSADRAIN, &terminal->modes);
}
