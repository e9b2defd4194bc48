#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Derive a private apt configuration from the machine's own.

The project needs a few files from Debian suites that the machine may not have
in its lists. They are fetched through the archive the machine already uses,
with the keys it already trusts, from a directory of our own: nothing under
/etc/apt or /var/lib/apt is written.

usage: apt_sources.py DIRECTORY CODENAME SUITE[:TYPES]...
    TYPES is "deb", "deb-src" or both joined with a comma (default: both)
Writes DIRECTORY/apt.conf and prints its path.
"""

import glob
import os
import re
import sys


def parse_deb822(text):
    """The stanzas of a .sources file as dictionaries with lower-case keys."""
    stanzas, current, key = [], {}, None
    for line in text.splitlines() + [""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if current:
                stanzas.append(current)
            current, key = {}, None
        elif line[0] in " \t" and key:
            current[key] += "\n" + line
        elif ":" in line:
            key, value = line.split(":", 1)
            key = key.strip().lower()
            current[key] = value.strip()
    return stanzas


def parse_one_line(text):
    """The lines of a sources.list as the same kind of dictionaries."""
    stanzas = []
    pattern = re.compile(r"^(deb|deb-src)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(.*)$")
    for line in text.splitlines():
        match = pattern.match(line.split("#", 1)[0].strip())
        if not match:
            continue
        kind, options, uri, rest = match.groups()
        suite, *components = rest.split()
        stanza = {"types": kind, "uris": uri, "suites": suite,
                  "components": " ".join(components)}
        for option in (options or "").split():
            name, _, value = option.partition("=")
            stanza[name.rstrip("+-").lower()] = value.replace(",", " ")
        stanzas.append(stanza)
    return stanzas


def system_stanzas(root="/etc/apt"):
    """Everything the machine's own lists say, enabled entries only."""
    stanzas = []
    paths = [os.path.join(root, "sources.list")]
    paths += sorted(glob.glob(os.path.join(root, "sources.list.d", "*")))
    for path in paths:
        try:
            with open(path, encoding="utf-8") as source:
                text = source.read()
        except OSError:
            continue
        if path.endswith(".sources"):
            stanzas += parse_deb822(text)
        elif path.endswith(".list"):
            stanzas += parse_one_line(text)
    return [s for s in stanzas if s.get("enabled", "yes").lower() != "no"]


def archive_of(stanzas, codename):
    """The stanza of the Debian archive itself: the one with the release."""
    for stanza in stanzas:
        if (codename in stanza.get("suites", "").split()
                and "main" in stanza.get("components", "").split()):
            return stanza
    return None


def security_of(stanzas, codename):
    """The stanza with the release's security updates, if there is one."""
    for stanza in stanzas:
        if codename + "-security" in stanza.get("suites", "").split():
            return stanza
    return None


def format_stanza(base, suites, types):
    """A deb822 stanza for other suites of the same archive."""
    lines = ["Types: " + " ".join(types), "URIs: " + base["uris"],
             "Suites: " + " ".join(suites), "Components: main",
             "Architectures: amd64"]
    for key, name in (("signed-by", "Signed-By"), ("trusted", "Trusted"),
                      ("check-valid-until", "Check-Valid-Until")):
        if key in base:
            lines.append(name + ": " + base[key])
    return "\n".join(lines) + "\n"


def sources(stanzas, codename, requests):
    """The text of the private sources file."""
    archive = archive_of(stanzas, codename)
    if archive is None:
        raise LookupError("no entry with suite %s and component main" % codename)
    text = [format_stanza(archive, [suite], types)
            for suite, types in requests]
    security = security_of(stanzas, codename)
    if security is not None:
        text.append(format_stanza(security, [codename + "-security"], ["deb"]))
    return "\n".join(text)


def parse_request(word):
    suite, _, types = word.partition(":")
    return suite, (types or "deb,deb-src").split(",")


def write_configuration(directory, text):
    """Write the files; the state of dpkg and the keys stay the machine's."""
    directory = os.path.abspath(directory)
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        os.makedirs(os.path.join(directory, name), exist_ok=True)
    with open(os.path.join(directory, "private.sources"), "w",
              encoding="utf-8") as out:
        out.write(text)
    settings = (
        ("Dir::Etc::SourceList", "/dev/null"),
        ("Dir::Etc::SourceParts", os.path.join(directory, "parts")),
        ("Dir::State::Lists", os.path.join(directory, "lists")),
        ("Dir::Cache", os.path.join(directory, "cache")),
        # Foreign suites must never look like candidates for an upgrade.
        ("APT::Default-Release", ""),
        ("APT::Sandbox::User", "root"),
        ("APT::Get::List-Cleanup", "true"),
        ("Acquire::Languages", "none"),
        ("Acquire::Retries", "3"),
    )
    os.replace(os.path.join(directory, "private.sources"),
               os.path.join(directory, "parts", "private.sources"))
    path = os.path.join(directory, "apt.conf")
    with open(path, "w", encoding="utf-8") as out:
        for name, value in settings:
            out.write('%s "%s";\n' % (name, value))
    return path


def main(arguments):
    if len(arguments) < 3:
        sys.exit(__doc__)
    directory, codename, *words = arguments
    try:
        text = sources(system_stanzas(), codename,
                       [parse_request(word) for word in words])
    except LookupError as error:
        sys.exit("the machine's apt lists have %s" % error)
    print(write_configuration(directory, text))


if __name__ == "__main__":
    main(sys.argv[1:])
