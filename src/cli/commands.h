/* The subcommands. Each gets its own name as argv[0] and returns the exit status of the program. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int exec_main(int argc, char **argv);
int elect_main(int argc, char **argv);
int status_main(int argc, char **argv);
int list_main(int argc, char **argv);
int wait_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int revoke_main(int argc, char **argv);
int break_main(int argc, char **argv);
int permits_main(int argc, char **argv);
int doctor_main(int argc, char **argv);
int server_main(int argc, char **argv);
int demo_main(int argc, char **argv);

/* `status`, when all that was printed has been written; else says why not, and returns the exit status for that. */
int commands_finish(int status);

/* Prints a text, or the program's version, on standard output; returns 0, or the exit status if
 * that fails. */
int commands_print(const char *text);
int commands_print_version(void);

#endif
