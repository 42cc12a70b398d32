#!/usr/bin/python3
"""Checks what the compiled library needs and what it shows.

usage: symbols.py pure OBJECT...            the recipe's objects: need only memory and string functions, and keep
                                            no state of their own
       symbols.py pure-self-test COMPILER   compile impure sources and see that each is reported
       symbols.py exported LIBRARY HEADER...  the shared library exports the headers' functions, each documented
       symbols.py exported-self-test        see that an undocumented declaration is reported
"""
import os
import re
import subprocess
import sys
import tempfile

# What a pure function may call. abort and the like: assert(3).
PURE = re.compile(
    r"^(mem(cpy|set|cmp|move|chr)|str(len|n?cmp|chr|rchr|nlen|spn|cspn|str)|qsort|bsearch"
    r"|__assert_fail|abort|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_"
    r"|__(mem|str)\w+_chk|__(asan|ubsan|tsan|sanitizer|gcov)_\w+)$")
READ_ONLY = re.compile(r"^\.(rodata|data\.rel\.ro|text|eh_frame|note|debug|comment)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def impurities(objects):
    defined, needed, state = set(), {}, []
    for path in objects:
        for line in run("nm", "--format=sysv", path).splitlines():
            column = [part.strip() for part in line.split("|")]
            if len(column) != 7:
                continue
            name, kind, section = column[0], column[2], column[6]
            if kind == "U":
                needed.setdefault(name, os.path.basename(path))
                continue
            defined.add(name)
            is_data = kind.lower() in ("b", "d", "c", "s")
            if is_data and not READ_ONLY.match(section) and not re.match(r"^(__|\.L|_ZL?)", name):
                state.append("%s: %s is state that outlives a call (%s)" % (os.path.basename(path), name, section))
    calls = ["%s: calls %s" % (where, name) for name, where in sorted(needed.items())
             if name not in defined and not PURE.match(name)]
    return calls + state


def check_pure(objects):
    if not objects:
        print("symbols: no object given")
        return 1
    found = impurities(objects)
    print("\n".join(found) if found else "symbols: %d objects, all pure" % len(objects))
    return 1 if found else 0


IMPURE_SOURCES = {
    "allocates": "#include <stdlib.h>\nvoid *f(void); void *f(void) { return malloc(8); }",
    "reads_the_clock": "#include <time.h>\nlong f(void); long f(void) { return time(0); }",
    "prints": "#include <stdio.h>\nvoid f(void); void f(void) { puts(\"\"); }",
    "remembers": "int f(void); int f(void) { static int calls; return ++calls; }",
    "errno": "#include <errno.h>\nint f(void); int f(void) { return errno; }",
}
PURE_SOURCE = """#include <string.h>
static const char *const words[] = {"one", "two"};
int f(const char *s, int i);
int f(const char *s, int i) { char c[8]; memset(c, i, 8); return strcmp(s, words[i]) + c[i]; }
"""


def pure_self_test(compiler):
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        def objections(name, text):
            source, target = os.path.join(scratch, name + ".c"), os.path.join(scratch, name + ".o")
            with open(source, "w", encoding="utf-8") as out:
                out.write(text)
            run(compiler, "-fPIC", "-O1", "-c", source, "-o", target)
            return impurities([target])

        for name, text in IMPURE_SOURCES.items():
            if not objections(name, text):
                print("symbols: not reported: a source that %s" % name.replace("_", " "))
                failures += 1
        for line in objections("pure", PURE_SOURCE):
            print("symbols: reported although pure: %s" % line)
            failures += 1
    return 1 if failures else 0


DECLARATION = re.compile(r"^ZKLOCK_API\b[^;]*?\b(zklock_\w+)\(", re.MULTILINE)


def declared(text):
    """The functions of the header, each with whether a comment stands right above it."""
    return {match[1]: text[:match.start()].rstrip(" ").endswith("*/\n") for match in DECLARATION.finditer(text)}


def check_exported(library, headers):
    functions = {}
    for header in headers:
        with open(header, encoding="utf-8") as stream:
            functions.update(declared(stream.read()))
    lines = run("nm", "--dynamic", "--defined-only", library).splitlines()
    # An absolute symbol is the name of a version.
    exported = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}
    found = ["declared, but not exported: %s" % name for name in sorted(set(functions) - exported)]
    found += ["exported, but not declared: %s" % name for name in sorted(exported - set(functions))]
    found += ["no comment above it: %s" % name for name, is_documented in functions.items() if not is_documented]
    print("\n".join(found) if found else "symbols: %d functions, exported and documented" % len(functions))
    return 1 if found or not functions else 0


def exported_self_test():
    text = "/* Says. */\nZKLOCK_API int zklock_said(void);\nZKLOCK_API MUST int *zklock_unsaid(int a,\n    int b);\n"
    if declared(text) == {"zklock_said": True, "zklock_unsaid": False}:
        return 0
    print("symbols: misread: %s" % declared(text))
    return 1


def main(arguments):
    what, rest = (arguments or [""])[0], arguments[1:]
    if what == "pure":
        return check_pure(rest)
    if what == "pure-self-test" and len(rest) == 1:
        return pure_self_test(rest[0])
    if what == "exported" and len(rest) >= 2:
        return check_exported(rest[0], rest[1:])
    if what == "exported-self-test":
        return exported_self_test()
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
