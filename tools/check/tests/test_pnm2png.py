# SPDX-License-Identifier: GPL-2.0
"""Image conversion."""

import struct
import unittest
import zlib

import pnm2png


def chunks(data):
    position, found = 8, {}
    while position < len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        body = data[position + 8:position + 8 + length]
        crc, = struct.unpack_from(">I", data, position + 8 + length)
        assert crc == zlib.crc32(name + body)
        found[name] = body
        position += length + 12
    return found


class Convert(unittest.TestCase):
    def test_colour(self):
        pixels = bytes(range(12))
        data = pnm2png.png(*pnm2png.parse(b"P6\n# made up\n2 2\n255\n" + pixels))
        found = chunks(data)
        self.assertEqual(found[b"IHDR"][:10],
                         struct.pack(">IIBB", 2, 2, 8, 2))
        self.assertEqual(zlib.decompress(found[b"IDAT"]),
                         b"\0" + pixels[:6] + b"\0" + pixels[6:])

    def test_grey(self):
        self.assertEqual(pnm2png.parse(b"P5 1 2 255\nab"), (1, 2, 1, b"ab"))

    def test_white_space_is_a_pixel(self):
        self.assertEqual(pnm2png.parse(b"P5 1 2 255\n\n ")[3], b"\n ")

    def test_cut_off(self):
        for data in (b"P5 2 2 255\nab", b"P5 2", b"P4 1 1 1\na"):
            with self.assertRaises((ValueError, IndexError)):
                pnm2png.parse(data)


if __name__ == "__main__":
    unittest.main()
