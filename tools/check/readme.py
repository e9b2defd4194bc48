#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the commands that the documentation shows and compares their output.

A fenced block that begins with ```sh test is a script: it runs in the root of
the checkout and must end with status 0. A ```text block right behind it (only
empty lines between) is its output: its lines must appear in that order, "..."
within a line stands for anything, a line "..." for any number of lines. A
block with file=PATH in its first line must stand in that file, line for line.
Other blocks are for reading. Links to files must lead somewhere. Writes TAP,
one test per block and per text with links.

usage: readme.py [FILE...]    (default: README.md and Documentation/*.md)
"""

import dataclasses
import functools
import glob
import os
import re
import subprocess
import sys

FENCE = re.compile(r"^```(.*)$")
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")
TIMEOUT = 600
LAST_LINES = 20


@dataclasses.dataclass
class Block:
    """A fenced block: where it is, what it is, its lines."""

    path: str
    number: int
    info: str
    lines: list
    # Whether only empty lines separate it from the block before.
    follows: bool = False

    def is_test(self):
        return self.info.split() == ["sh", "test"] or bool(self.quoted())

    def quoted(self):
        """The file that the block is a part of, or ""."""
        words = [word for word in self.info.split() if word.startswith("file=")]
        return words[0][len("file="):] if words else ""


def blocks(path, text):
    """The fenced blocks of a Markdown text."""
    found, current, follows = [], None, False
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if current is None and fence:
            current = Block(path, number, fence.group(1).strip(), [], follows)
        elif current is not None and fence:
            found.append(current)
            current, follows = None, True
        elif current is not None:
            current.lines.append(line)
        elif line.strip():
            follows = False
    if current is not None:
        raise ValueError("%s:%d: block without an end" % (path, current.number))
    return found


def tests(all_blocks):
    """Pairs of test block and expected lines (or None)."""
    pairs = []
    for index, block in enumerate(all_blocks):
        if not block.is_test():
            continue
        expected = None
        if index + 1 < len(all_blocks):
            following = all_blocks[index + 1]
            if following.info == "text" and following.follows:
                expected = following.lines
        pairs.append((block, expected))
    return pairs


def pattern_of(line):
    """A regular expression for a line in which "..." is anything."""
    parts = [r"\s+".join(re.escape(word) for word in part.split())
             for part in line.split("...")]
    return re.compile(r"\s*" + r".*".join(parts) + r"\s*$")


def missing_line(expected, output):
    """The first expected line that does not come in its turn, or None."""
    position = 0
    for line in expected:
        if line.strip() in ("", "..."):
            continue
        pattern = pattern_of(line)
        while position < len(output) and not pattern.match(output[position]):
            position += 1
        if position == len(output):
            return line
        position += 1
    return None


def run(block, root):
    """Status and output lines of a block's commands."""
    script = "set -e\n" + "\n".join(block.lines) + "\n"
    environment = dict(os.environ, TDMA_IN_README="1")
    try:
        done = subprocess.run(["bash", "-c", script], cwd=root, timeout=TIMEOUT,
                              env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, text=True,
                              errors="replace")
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace")
        return "no end within %d s" % TIMEOUT, output.splitlines()
    return done.returncode, done.stdout.splitlines()


def stands_in(lines, text):
    """Whether lines follow each other in a text."""
    return "\n" + "\n".join(lines) + "\n" in "\n" + text


def quote_verdict(block, root):
    with open(os.path.join(root, block.quoted()), encoding="utf-8") as text:
        if stands_in(block.lines, text.read()):
            return None
    return "not what stands in " + block.quoted(), []


def dead_links(path, text, root):
    """Targets of links within the project that are not there."""
    base = os.path.join(root, os.path.dirname(path))
    return [target for target in LINK.findall(text)
            if "://" not in target and
            not os.path.exists(os.path.join(base, target))]


def verdict(block, expected, root):
    """None if good, else why not, with the output."""
    if block.quoted():
        return quote_verdict(block, root)
    status, output = run(block, root)
    if status != 0:
        return "status %s" % status, output
    line = missing_line(expected, output) if expected is not None else None
    if line is not None:
        return "its output lacks: " + line, output
    return None


def checks(paths, root):
    """Title and verdict (a call) of everything there is to check."""
    found = []
    for path in paths:
        name = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for block, expected in tests(blocks(name, text)):
            title = "%s:%d %s" % (name, block.number, block.quoted() or
                                  "; ".join(block.lines)[:60])
            found.append((title, functools.partial(verdict, block, expected,
                                                   root)))
        if LINK.search(text):
            found.append((name + " links", functools.partial(
                link_verdict, name, text, root)))
    return found


def link_verdict(name, text, root):
    dead = dead_links(name, text, root)
    return ("links to nothing", dead) if dead else None


def main(paths):
    root = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    paths = paths or [os.path.join(root, "README.md")] + sorted(
        glob.glob(os.path.join(root, "Documentation", "*.md")))
    found = checks(paths, root)
    print("TAP version 13")
    if not found:
        print("1..0 # SKIP nothing to check")
        return 0
    print("1..%d" % len(found))
    bad = 0
    for number, (title, call) in enumerate(found, 1):
        problem = call()
        if problem is None:
            print("ok %d %s" % (number, title), flush=True)
            continue
        bad += 1
        print("# " + problem[0])
        for line in problem[1][-LAST_LINES:]:
            print("# | " + line)
        print("not ok %d %s" % (number, title), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
