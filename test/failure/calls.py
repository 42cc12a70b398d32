#!/usr/bin/python3
"""Checks that every call of the library is one that these tests make fail, or one that cannot fail for lack of memory,
descriptors or threads.

usage: calls.py LIBRARY LIST   the static library, and redirected_calls.txt
       calls.py --self-test    see that an unknown call is reported
"""
import re
import subprocess
import sys

# A new name here needs a look into its manual: it neither allocates, nor makes a descriptor or a thread.
HARMLESS = """
    abort atoi clock_gettime close closedir connect dirfd explicit_bzero fcntl freeaddrinfo fstat gai_strerror geteuid gethostname getpeername
    fsync getpid getrandom getsockopt gmtime_r inet_pton nanosleep poll pread
    pwrite program_invocation_short_name qsort bsearch read readdir snprintf
    sprintf strftime strtol strtoull strerror_r timerfd_settime vsnprintf write sigfillset
    pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_setstacksize pthread_cond_broadcast
    pthread_cond_destroy pthread_cond_signal pthread_cond_timedwait pthread_condattr_destroy pthread_condattr_init
    pthread_condattr_setclock pthread_detach pthread_equal pthread_join pthread_mutex_destroy pthread_mutex_lock
    pthread_mutex_unlock pthread_setcancelstate pthread_setname_np pthread_sigmask
    memchr memcpy memmove memrchr memset memcmp strchr strcmp strcpy strcat strcspn strlen strncmp strncpy strnlen strrchr
    strspn strstr
""".split()
# On Linux these only fill in their structure.
HARMLESS += ["pthread_attr_init", "pthread_cond_init", "pthread_mutex_init"]
# libzookeeper's own; and what the compiler and its tools add.
OTHERS = re.compile(
    r"^(zoo_\w+|zookeeper_(init2|close)|is_unrecoverable|ZOO_\w+|_GLOBAL_OFFSET_TABLE_"
    r"|__(errno_location|tls_get_addr|assert_fail|stack_chk_fail|(asan|ubsan|tsan|gcov|sanitizer)_\w+|\w+_chk))$")


def unknown_calls(needed, defined, redirected):
    known = set(HARMLESS) | set(redirected) | set(defined)
    return sorted(name for name in set(needed) - known if not OTHERS.match(name))


def read_library(path):
    needed, defined = set(), set()
    for line in subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines():
        column = line.split()
        if len(column) == 2 and column[0] == "U":
            needed.add(column[1])
        elif len(column) == 3:
            defined.add(column[2])
    return needed, defined


def read_list(path):
    with open(path, encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def self_test():
    found = unknown_calls(["malloc", "memcpy", "zoo_adelete", "own", "epoll_create1"], ["own"], ["malloc"])
    if found != ["epoll_create1"]:
        print("calls: %s were reported instead of epoll_create1" % found)
        return 1
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 64
    needed, defined = read_library(arguments[0])
    redirected = read_list(arguments[1])
    found = unknown_calls(needed, defined, redirected)
    for name in found:
        print("calls: %s is not known; does it fail for lack of something? Then stand in for it." % name)
    if not found:
        print("calls: %d names, %d stood in for" % (len(needed), len(set(redirected) & needed)))
    return 1 if found or not needed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
