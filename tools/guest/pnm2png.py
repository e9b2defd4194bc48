#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Converts binary PGM and PPM images (8 bits) to PNG.

usage: pnm2png.py FILE...    writes FILE with the extension .png beside it
"""

import os
import struct
import sys
import zlib

# Magic number: channels, PNG's colour type.
KINDS = {b"P5": (1, 0), b"P6": (3, 2)}


def tokens(data, count):
    """The first words of a header and the offset behind them."""
    words, position = [], 0
    while len(words) < count:
        while data[position:position + 1].isspace():
            position += 1
        if data[position:position + 1] == b"#":
            position = data.index(b"\n", position)
            continue
        end = position
        while end < len(data) and not data[end:end + 1].isspace():
            end += 1
        if end == position:
            raise ValueError("header is cut off")
        words.append(data[position:end])
        position = end
    # Exactly one white space character ends the header.
    return words, position + 1


def parse(data):
    """Width, height, channels and pixels of an image."""
    (magic, *numbers), offset = tokens(data, 4)
    if magic not in KINDS:
        raise ValueError("neither P5 nor P6")
    width, height, maximum = map(int, numbers)
    if maximum != 255:
        raise ValueError("not 8 bits per channel")
    channels = KINDS[magic][0]
    pixels = data[offset:offset + width * height * channels]
    if len(pixels) != width * height * channels:
        raise ValueError("pixels are cut off")
    return width, height, channels, pixels


def chunk(name, data):
    return (struct.pack(">I", len(data)) + name + data
            + struct.pack(">I", zlib.crc32(name + data)))


def png(width, height, channels, pixels):
    """The bytes of a PNG file: each row unfiltered."""
    colour = {count: kind for count, kind in KINDS.values()}[channels]
    stride = width * channels
    rows = b"".join(b"\0" + pixels[row * stride:(row + 1) * stride]
                    for row in range(height))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour,
                                         0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def main(paths):
    for path in paths:
        with open(path, "rb") as image:
            data = png(*parse(image.read()))
        with open(os.path.splitext(path)[0] + ".png", "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main(sys.argv[1:])
