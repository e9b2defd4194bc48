#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Checks a kselftest directory as the kernel's own patch checker does: every
source and script is in the Makefile, every program in .gitignore, lists are
sorted.

usage: selftests.py DIRECTORY
"""

import os
import re
import sys


def read(path):
    try:
        with open(path, encoding="utf-8") as text:
            return text.read()
    except FileNotFoundError:
        return ""


def variable(makefile, name):
    """All words assigned to a Makefile's variable."""
    joined = makefile.replace("\\\n", " ")
    values = re.findall(r"^%s\s*[:+]?=\s*(.*)$" % name, joined, re.MULTILINE)
    return " ".join(values).split()


def entries(text):
    return [line for line in text.splitlines()
            if line and not line.startswith("#")]


def complaints(directory):
    makefile = read(os.path.join(directory, "Makefile"))
    ignored = entries(read(os.path.join(directory, ".gitignore")))
    config = entries(read(os.path.join(directory, "config")))
    for name in sorted(os.listdir(directory)):
        stem, extension = os.path.splitext(name)
        if extension in (".c", ".sh") and not re.search(
                r"\b%s(\.[cho])?\b" % re.escape(stem), makefile):
            yield "%s is not in the Makefile" % name
    for program in (variable(makefile, "TEST_GEN_PROGS")
                    + variable(makefile, "TEST_GEN_FILES")
                    + variable(makefile, "TEST_GEN_PROGS_EXTENDED")):
        if program not in ignored and "/" + program not in ignored:
            yield "%s is not in .gitignore" % program
    for name, lines in ((".gitignore", ignored), ("config", config)):
        if lines != sorted(lines):
            yield "%s is not sorted" % name


def main(directory):
    found = list(complaints(directory))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
