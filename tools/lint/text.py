#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that hold for every text file of the project.

usage: text.py FILE...
"""

import re
import sys

# Files whose format has no place for a licence line, or which are data.
UNLICENSED = re.compile(
    r"((^|/)\.gitignore$|^Documentation/ABI/|\.md$|\.tsv$|\.ignore$|(^|/)settings$"
    r"|(^|/)config$|(^|/)trace-events$|(^|/)COPYING|\.txt$|\.ppm$|\.png$|\.jpg$"
    r"|(^|/)__init__\.py$|(^|/)corpus/)")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\s*[:(]"
                        r"|(//|\*|#)\s*(TODO|FIXME|XXX)\b")


def complaints(path, text):
    """What is wrong with a file, as (line, message)."""
    if path.startswith("LICENSES/"):
        return
    lines = text.splitlines()
    head = lines[:2]
    if not UNLICENSED.search(path) and lines and \
            not any("SPDX-License-Identifier:" in line for line in head):
        yield 1, "no SPDX licence line at the top"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    if text.endswith("\n\n"):
        yield len(lines), "empty line at the end"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and not path.endswith(".tsv"):
            yield number, "white space at the end of the line"
        if "\r" in line:
            yield number, "carriage return"
        if UNFINISHED.search(line):
            yield number, "unfinished: " + line.strip()


def main(paths):
    found = 0
    for path in paths:
        with open(path, "rb") as source:
            data = source.read()
        # A fuzzer's inputs are text by chance only.
        if b"\0" in data or "/corpus/" in path:
            continue
        for number, message in complaints(path, data.decode("utf-8")):
            print("%s:%d: %s" % (path, number, message))
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
