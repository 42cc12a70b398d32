#include "auth_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "options.h"

static bool complain(struct auth_problem *out_problem, int line, const char *text)
{
    *out_problem = (struct auth_problem){line, text};
    return false;
}

static bool is_scheme_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '-' || letter == '_' || letter == '.';
}

static bool has_control_character(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return true;
    }
    return false;
}

static bool parse_line(const char *line, size_t size, int number, struct auth *out_auth,
                       struct auth_problem *out_problem)
{
    const char *colon = memchr(line, ':', size);
    size_t scheme_size = colon ? (size_t)(colon - line) : 0;

    if (has_control_character(line, size))
        return complain(out_problem, number, "a control character, such as a tab, a NUL or the CR of a DOS file");
    if (!colon)
        return complain(out_problem, number, "no colon; write scheme:credentials, as in digest:user:password");
    if (scheme_size == 0 || scheme_size >= AUTH_SCHEME_SIZE)
        return complain(out_problem, number, "the scheme before the first colon must have 1 to 32 characters");
    for (size_t i = 0; i < scheme_size; i++) {
        if (!is_scheme_letter(line[i]))
            return complain(out_problem, number, "the scheme before the first colon is not a plain word");
    }
    memcpy(out_auth->scheme, line, scheme_size);
    out_auth->scheme[scheme_size] = '\0';
    out_auth->credentials = colon + 1;
    out_auth->size = size - scheme_size - 1;
    if (out_auth->size == 0)
        return complain(out_problem, number, "no credentials behind the scheme");
    if (strcmp(out_auth->scheme, "digest") == 0 && !memchr(out_auth->credentials, ':', out_auth->size))
        return complain(out_problem, number, "a digest needs user:password behind the scheme");
    return true;
}

bool auth_parse(const char *text, size_t size, struct auth *out_auth, struct auth_problem *out_problem)
{
    int number = 0;
    bool is_found = false;

    *out_auth = (struct auth){0};
    for (size_t at = 0; at < size; number++) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - text) - at : size - at;

        if (length > 0 && text[at] != '#') {
            if (is_found)
                return complain(out_problem, number + 1, "a second line of credentials; only one is used");
            if (!parse_line(text + at, length, number + 1, out_auth, out_problem))
                return false;
            is_found = true;
        }
        at += length + 1;
    }
    return is_found || complain(out_problem, 0, "no credentials; write one line, as in digest:user:password");
}

/* Returns the size, one more than may be if there is more, or -1. */
static ssize_t read_all(int descriptor, char *text)
{
    size_t used = 0;

    while (used <= AUTH_FILE_MOST) {
        ssize_t size = read(descriptor, text + used, AUTH_FILE_MOST + 1 - used);

        if (size == 0)
            break;
        if (size < 0 && errno != EINTR)
            return -1;
        used += size > 0 ? (size_t)size : 0;
    }
    return (ssize_t)used;
}

static int fail(const char *path, const char *reason)
{
    message_usage("cannot read the credentials of %s: %s", path, reason);
    return EXIT_USAGE;
}

/* A pipe belongs to whoever made it, and is asked nothing. */
static int check_mode(int descriptor, const char *path)
{
    struct stat status;

    if (fstat(descriptor, &status) < 0)
        return fail(path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail(path, "that is a directory");
    if (S_ISREG(status.st_mode) && (status.st_mode & (S_IROTH | S_IWOTH))) {
        message_usage("%s: the credentials may be read or written by every user; first: chmod o= %s", path, path);
        return EXIT_USAGE;
    }
    return 0;
}

static int read_open(int descriptor, const char *path, struct auth_file *out_file)
{
    int exit_status = check_mode(descriptor, path);
    struct auth_problem problem;
    ssize_t size;

    if (exit_status)
        return exit_status;
    size = read_all(descriptor, out_file->text);
    if (size < 0)
        return fail(path, strerror(errno));
    if (size > AUTH_FILE_MOST)
        return fail(path, "it is longer than 4096 bytes");
    if (auth_parse(out_file->text, (size_t)size, &out_file->auth, &problem))
        return 0;
    if (problem.line > 0)
        message_usage("%s: line %d: %s", path, problem.line, problem.text);
    else
        message_usage("%s: %s", path, problem.text);
    return EXIT_USAGE;
}

int auth_file_read(const char *path, struct auth_file *out_file)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int exit_status;

    if (descriptor < 0)
        return fail(path, strerror(errno));
    exit_status = read_open(descriptor, path, out_file);
    close(descriptor);
    if (exit_status)
        auth_file_wipe(out_file);
    return exit_status;
}

void auth_file_wipe(struct auth_file *file)
{
    explicit_bzero(file, sizeof(*file));
}
