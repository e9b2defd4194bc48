# SPDX-License-Identifier: GPL-2.0
"""The private apt configuration, derived from made-up lists."""

import os
import tempfile
import unittest

import apt_sources

DEB822 = """\
Types: deb
# a comment
URIs: http://archive.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://archive.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://other.example/debian
Suites: trixie
Components: main
"""

ONE_LINE = """\
# deb http://commented.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://vendor.example/apt stable main
deb [signed-by=/d.gpg] mirror+file:/etc/apt/mirrors/debian.list bookworm main non-free-firmware
"""


class Parsing(unittest.TestCase):
    def test_deb822(self):
        stanzas = apt_sources.parse_deb822(DEB822)
        self.assertEqual(len(stanzas), 3)
        self.assertEqual(stanzas[0]["suites"], "bookworm bookworm-updates")

    def test_deb822_inline_key(self):
        text = "Types: deb\nSigned-By:\n -----BEGIN-----\n .\n abc\n"
        stanza, = apt_sources.parse_deb822(text)
        self.assertEqual(stanza["signed-by"], "\n -----BEGIN-----\n .\n abc")

    def test_one_line(self):
        vendor, debian = apt_sources.parse_one_line(ONE_LINE)
        self.assertEqual(vendor["signed-by"], "/k.gpg")
        self.assertEqual(debian["uris"],
                         "mirror+file:/etc/apt/mirrors/debian.list")
        self.assertEqual(debian["components"], "main non-free-firmware")


class Choosing(unittest.TestCase):
    def test_archive_not_vendor(self):
        stanzas = apt_sources.parse_one_line(ONE_LINE)
        archive = apt_sources.archive_of(stanzas, "bookworm")
        self.assertEqual(archive["signed-by"], "/d.gpg")

    def test_none(self):
        with self.assertRaises(LookupError):
            apt_sources.sources([], "bookworm", [("trixie", ["deb"])])

    def test_text(self):
        text = apt_sources.sources(apt_sources.parse_deb822(DEB822), "bookworm",
                                   [("trixie", ["deb-src"])])
        first, second = apt_sources.parse_deb822(text)
        self.assertEqual(first["types"], "deb-src")
        self.assertEqual(first["suites"], "trixie")
        self.assertEqual(first["uris"], "http://archive.example/debian")
        self.assertEqual(first["components"], "main")
        self.assertEqual(second["suites"], "bookworm-security")


class System(unittest.TestCase):
    def test_disabled_and_foreign_files(self):
        with tempfile.TemporaryDirectory() as root:
            parts = os.path.join(root, "sources.list.d")
            os.mkdir(parts)
            for name, text in (("a.sources", DEB822), ("b.list", ONE_LINE),
                               ("c.bak", DEB822)):
                with open(os.path.join(parts, name), "w",
                          encoding="utf-8") as out:
                    out.write(text)
            stanzas = apt_sources.system_stanzas(root)
        self.assertEqual(len(stanzas), 4)

    def test_nothing_outside_the_directory(self):
        with tempfile.TemporaryDirectory() as root:
            path = apt_sources.write_configuration(root, "Types: deb\n")
            with open(path, encoding="utf-8") as conf:
                text = conf.read()
        for name in ("Dir::State::Lists", "Dir::Cache", "Dir::Etc::SourceParts"):
            self.assertIn('%s "%s' % (name, root), text)


if __name__ == "__main__":
    unittest.main()
