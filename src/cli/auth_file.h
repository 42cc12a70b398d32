/* The file of --auth-file: one line "scheme:credentials". What it holds goes nowhere but into the session. */
#ifndef CLI_AUTH_FILE_H
#define CLI_AUTH_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { AUTH_FILE_MOST = 4096, AUTH_SCHEME_SIZE = 33 };

/* Points into the text. */
struct auth {
    char scheme[AUTH_SCHEME_SIZE];
    const char *credentials;
    size_t size;
};

struct auth_problem {
    int line; /* 0: of the whole file */
    const char *text;
};

/* Takes the text apart. Empty lines and those that begin with '#' are skipped. A problem tells no byte of the text. */
bool auth_parse(const char *text, size_t size, struct auth *out_auth, struct auth_problem *out_problem);

/* A file read into memory of its own, until auth_file_wipe(). */
struct auth_file {
    struct auth auth;
    char text[AUTH_FILE_MOST + 1];
};

/* Reads and checks it; says what is wrong. A file that users other than its owner and group may read is refused. Returns
 * 0 or the exit status. */
int auth_file_read(const char *path, struct auth_file *out_file);
void auth_file_wipe(struct auth_file *file);

#endif
