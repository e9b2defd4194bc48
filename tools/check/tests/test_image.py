# SPDX-License-Identifier: GPL-2.0
"""Image conversion."""

import random
import struct
import unittest
import zlib

import image


def filtered(kind, row, above, step):
    """PNG's filters as the specification defines them, the other way."""
    out = []
    for index, value in enumerate(row):
        left = row[index - step] if index >= step else 0
        corner = above[index - step] if index >= step else 0
        up = above[index]
        guess = {0: 0, 1: left, 2: up, 3: (left + up) // 2,
                 4: image.paeth(left, up, corner)}[kind]
        out.append((value - guess) % 256)
    return bytes([kind] + out)


def png_with_filters(width, height, channels, pixels):
    stride, above, rows = width * channels, bytes(width * channels), []
    for number in range(height):
        row = pixels[number * stride:(number + 1) * stride]
        rows.append(filtered(number % 5, row, above, channels))
        above = row
    header = struct.pack(">IIBBBBB", width, height, 8,
                         image.PNG_COLOUR[channels], 0, 0, 0)
    return (image.PNG_MAGIC + image.chunk(b"IHDR", header)
            + image.chunk(b"IDAT", zlib.compress(b"".join(rows)))
            + image.chunk(b"IEND", b""))


class Convert(unittest.TestCase):
    def picture(self, channels):
        source = random.Random(channels)
        return 7, 11, channels, bytes(source.randrange(256)
                                      for _ in range(7 * 11 * channels))

    def test_png_round_trip(self):
        for channels in (1, 3):
            picture = self.picture(channels)
            self.assertEqual(image.read_png(image.write_png(*picture)), picture)

    def test_pnm_round_trip(self):
        for channels in (1, 3):
            picture = self.picture(channels)
            self.assertEqual(image.read_pnm(image.write_pnm(*picture)), picture)

    def test_all_filters(self):
        for channels in (1, 3):
            picture = self.picture(channels)
            self.assertEqual(image.read_png(png_with_filters(*picture)), picture)

    def test_comment(self):
        self.assertEqual(image.read_pnm(b"P5\n# made up\n1 2\n255\nab"),
                         (1, 2, 1, b"ab"))

    def test_white_space_is_a_pixel(self):
        self.assertEqual(image.read_pnm(b"P5 1 2 255\n\n ")[3], b"\n ")

    def test_refused(self):
        for data in (b"P5 2 2 255\nab", b"P5 2", b"P4 1 1 1\na",
                     b"P5 1 1 65535\nab"):
            with self.assertRaises(ValueError):
                image.read_pnm(data)

    def test_damaged(self):
        data = bytearray(image.write_png(*self.picture(3)))
        data[40] ^= 1
        with self.assertRaises(ValueError):
            image.read_png(bytes(data))


if __name__ == "__main__":
    unittest.main()
