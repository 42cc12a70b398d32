#!/usr/bin/python3
"""Reports the sizes of files and functions of src/, and fails above the ceilings.

usage: sizes.py SOURCE_DIR [--all]   --all: each function above the median, too
       sizes.py --self-test
"""
import os
import re
import statistics
import sys
import tempfile

FILE_LINES, FUNCTION_LINES, PARAMETERS = 400, 40, 5
# Agreed exceptions: "file:function" -> lines. None so far.
EXCEPTIONS = {}


def functions_of(lines):
    """(name, first line, body lines, parameters) of each function; its braces stand in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.rstrip() == "{" and start is None:
            start = number
        elif line.startswith("}") and start is not None:
            head = head_of(lines, start)
            match = re.search(r"(\w+)\((.*)\)[^)]*$", head)
            if match:
                yield match[1], start, number - start - 1, parameters_of(match[2])
            start = None


def head_of(lines, brace):
    """What stands above the opening brace, up to the previous blank line or end of something."""
    first = brace - 1
    while first > 0 and not re.match(r"^\s*$|^}|.*[;{]\s*$|^\s*\*/|^/\*|^#|.*\*/\s*$", lines[first - 1]):
        first -= 1
    return " ".join(line.strip() for line in lines[first:brace - 1])


def parameters_of(text):
    depth, count = 0, 1
    for character in text:
        depth += (character == "(") - (character == ")")
        count += character == "," and depth == 0
    return 0 if text.strip() in ("", "void") else count


def measure(source_dir):
    """All functions of src/ as (place, name, lines, parameters), and all files as (path, lines)."""
    functions, files = [], []
    for directory, _, names in sorted(os.walk(os.path.join(source_dir, "src"))):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            full = os.path.join(directory, name)
            path = os.path.relpath(full, source_dir)
            with open(full, encoding="utf-8") as stream:
                lines = stream.read().splitlines()
            files.append((path, len(lines)))
            functions += [("%s:%d" % (path, first), function, size, count)
                          for function, first, size, count in functions_of(lines)]
    return functions, files


def objections(functions, files):
    found = ["%s: %d lines, ceiling %d" % (path, size, FILE_LINES) for path, size in files if size > FILE_LINES]
    for place, name, size, count in functions:
        allowed = EXCEPTIONS.get("%s:%s" % (place.split(":")[0], name), FUNCTION_LINES)
        if size > allowed:
            found.append("%s: %s has %d lines, ceiling %d" % (place, name, size, allowed))
        if count > PARAMETERS:
            found.append("%s: %s takes %d parameters, ceiling %d" % (place, name, count, PARAMETERS))
    return found


def report(functions, files, is_everything):
    sizes = [size for _, _, size, _ in functions]
    print("sizes: %d functions, median %d lines, longest %d; %d files, longest %d lines" % (
        len(sizes), statistics.median(sizes), max(sizes), len(files), max(size for _, size in files)))
    longest = sorted(functions, key=lambda entry: -entry[2])
    shown = longest if is_everything else longest[:5]
    for place, name, size, _ in shown:
        print("  %3d %s (%s)" % (size, name, place))


def self_test():
    body = "    x();\n"
    text = ("/* One. */\nstatic int short_one(int a, void (*b)(int, int))\n{\n" + body * 40 + "}\n\n"
            "void long_one(void)\n{\n" + body * 41 + "}\n\n"
            "static struct thing *\nwide_one(int a, int b, int c,\n         int d, int e, int f)\n{\n}\n" + "\n" * 320)
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(os.path.join(scratch, "src"))
        with open(os.path.join(scratch, "src", "sample.c"), "w", encoding="utf-8") as out:
            out.write(text)
        functions, files = measure(scratch)
    got = [(name, size, count) for _, name, size, count in functions]
    if got != [("short_one", 40, 2), ("long_one", 41, 0), ("wide_one", 0, 6)]:
        print("sizes: misread: %s" % got)
        return 1
    if len(objections(functions, files)) != 3:
        print("sizes: reported: %s" % objections(functions, files))
        return 1
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments or len(arguments) > 2 or arguments[1:] not in ([], ["--all"]):
        print(__doc__, file=sys.stderr)
        return 64
    functions, files = measure(arguments[0])
    if not functions:
        print("sizes: no function found below %s/src" % arguments[0])
        return 1
    report(functions, files, len(arguments) == 2)
    found = objections(functions, files)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
