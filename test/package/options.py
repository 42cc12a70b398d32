#!/usr/bin/python3
"""Checks that each option that the command takes is told to those who would use it.

usage: options.py told COMMAND SOURCE_DIRECTORY   in the help of its subcommand, the manual and both completions
       options.py self-test                       see that an untold option is reported
"""
import glob
import os
import re
import subprocess
import sys

# A rule of a table that options_read() takes: {"name", 'n' or 0, OPTION_KIND, ...
RULE = re.compile(r'\{"([a-z-]+)", (?:\'.\'|0), OPTION_')
# The files whose rules belong to subcommands that are not the file's own name.
SUBCOMMANDS = {"demo_options": ["demo"], "exec_options": ["exec", "elect"], "survey": ["list", "doctor"]}
# What asks the servers something says how to reach them; the rest of the common options is for those who hold.
REACHING = ["servers", "session-timeout", "connect-timeout", "auth-file", "tls"]
WITHOUT_SERVERS = ["server"]
# In elect these make no sense and are refused there; --guard is the default, and stands for scripts that say so.
REFUSED = {"elect": {"shared", "permits", "on-loss", "once-per", "guard"}, "exec": {"guard"}}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rules(source):
    """The options of each subcommand, and those that all have."""
    own, common = {}, []
    for path in sorted(glob.glob(os.path.join(source, "src/cli/*.c"))):
        stem = os.path.basename(path)[:-2]
        names = RULE.findall(read(path))
        if stem == "options":
            common = names
            continue
        for subcommand in SUBCOMMANDS.get(stem, [stem]) if names else []:
            refused = REFUSED.get(subcommand, set())
            own.setdefault(subcommand, []).extend(name for name in names if name not in refused)
    return own, common


def untold(names, text, where):
    return ["%s does not name --%s" % (where, name) for name in names
            if not re.search(r"--%s(?![a-z-])" % name, text)]


def complaints(own, common, help_of, pages):
    found = []
    for subcommand in sorted(set(help_of)):
        reaching = [] if subcommand in WITHOUT_SERVERS else REACHING
        found += untold(own.get(subcommand, []) + reaching, help_of[subcommand], "zklock %s --help" % subcommand)
    every = sorted(set(common).union(*own.values()))
    for where, text in pages.items():
        found += untold(every, text, where)
    return found


def help_texts(command):
    run = lambda *words: subprocess.run([command, *words], check=True, capture_output=True, text=True).stdout
    subcommands = re.findall(r"^  ([a-z]+) ", run("--help"), re.MULTILINE)
    return {name: run(name, "--help") for name in subcommands}


def check_told(command, source):
    completion = os.path.join(source, "src/cli/completion")
    pages = {
        "zklock(1)": read(os.path.join(source, "man/zklock.1")).replace("\\-", "-"),
        "zklock.bash": read(os.path.join(completion, "zklock.bash")),
        "_zklock": read(os.path.join(completion, "_zklock")),
    }
    own, common = rules(source)
    if len(own) < 8 or len(common) < 8:
        return ["the tables of options were not found in %s/src/cli" % source]
    return complaints(own, common, help_texts(command), pages)


def self_test():
    own, common = {"wait": ["wait"]}, ["quiet"]
    text = " ".join("--" + name for name in REACHING + own["wait"] + common)
    shorter = text.replace("--tls", "--tls-is-another")
    right = complaints(own, common, {"wait": text}, {"page": text})
    wrong = complaints(own, common, {"wait": shorter}, {"page": text.replace("--quiet", "")})
    expected = ["zklock wait --help does not name --tls", "page does not name --quiet"]
    return [] if not right and wrong == expected else ["self-test: %s, %s" % (right, wrong)]


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "told":
        found = check_told(arguments[1], arguments[2])
    elif arguments == ["self-test"]:
        found = self_test()
    else:
        sys.exit(__doc__)
    for line in found:
        print("options: " + line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
