#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Converts images between PNG, which people view, and PGM/PPM, which a program
in the guest reads and writes without a library. 8 bits per channel, grey or
RGB, not interlaced.

usage: image.py IN OUT...    pairs of files; the extensions tell what to do
"""

import struct
import sys
import zlib

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
# PNM's magic number and PNG's colour type by number of channels.
PNM_MAGIC = {1: b"P5", 3: b"P6"}
PNG_COLOUR = {1: 0, 3: 2}


def key_of(table, value):
    for key, entry in table.items():
        if entry == value:
            return key
    raise ValueError("neither grey nor RGB")


def pnm_header(data):
    """The four words of a header and the offset of the pixels."""
    words, position = [], 0
    while len(words) < 4:
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


def read_pnm(data):
    """Width, height, channels and pixels."""
    (magic, *numbers), offset = pnm_header(data)
    channels = key_of(PNM_MAGIC, magic)
    width, height, maximum = map(int, numbers)
    if maximum != 255:
        raise ValueError("not 8 bits per channel")
    pixels = data[offset:offset + width * height * channels]
    if len(pixels) != width * height * channels:
        raise ValueError("pixels are cut off")
    return width, height, channels, pixels


def write_pnm(width, height, channels, pixels):
    return PNM_MAGIC[channels] + b"\n%d %d\n255\n" % (width, height) + pixels


def chunks(data):
    """The chunks of a PNG as (name, body)."""
    if not data.startswith(PNG_MAGIC):
        raise ValueError("no PNG")
    position = len(PNG_MAGIC)
    while position < len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        body = data[position + 8:position + 8 + length]
        check, = struct.unpack_from(">I", data, position + 8 + length)
        if check != zlib.crc32(name + body):
            raise ValueError("PNG is damaged")
        yield name, body
        position += length + 12


def paeth(left, above, corner):
    """The predictor of PNG's filter 4."""
    estimate = left + above - corner
    distances = (abs(estimate - left), abs(estimate - above),
                 abs(estimate - corner))
    return (left, above, corner)[distances.index(min(distances))]


def unfilter(kind, row, above, step):
    """Undo a row's filter; step is the number of bytes per pixel."""
    row = bytearray(row)
    for index, value in enumerate(row):
        left = row[index - step] if index >= step else 0
        corner = above[index - step] if index >= step else 0
        guess = (0, left, above[index], (left + above[index]) // 2,
                 paeth(left, above[index], corner))[kind]
        row[index] = (value + guess) & 0xff
    return row


def read_png(data):
    """Width, height, channels and pixels."""
    parts = {}
    for name, body in chunks(data):
        parts[name] = parts.get(name, b"") + body
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB",
                                                        parts[b"IHDR"])
    channels = key_of(PNG_COLOUR, colour)
    if depth != 8 or any(rest):
        raise ValueError("not 8 bits per channel, or interlaced")
    packed, stride = zlib.decompress(parts[b"IDAT"]), width * channels
    above, rows = bytes(stride), []
    for start in range(0, height * (stride + 1), stride + 1):
        above = unfilter(packed[start], packed[start + 1:start + 1 + stride],
                         above, channels)
        rows.append(bytes(above))
    return width, height, channels, b"".join(rows)


def chunk(name, data):
    return (struct.pack(">I", len(data)) + name + data
            + struct.pack(">I", zlib.crc32(name + data)))


def write_png(width, height, channels, pixels):
    """The rows stay unfiltered: simple, and small enough."""
    stride = width * channels
    rows = b"".join(b"\0" + pixels[row * stride:(row + 1) * stride]
                    for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, PNG_COLOUR[channels],
                         0, 0, 0)
    return (PNG_MAGIC + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def convert(source, target):
    with open(source, "rb") as image:
        data = image.read()
    picture = read_png(data) if source.endswith(".png") else read_pnm(data)
    write = write_png if target.endswith(".png") else write_pnm
    with open(target, "wb") as image:
        image.write(write(*picture))


def main(paths):
    if len(paths) % 2 or not paths:
        sys.exit(__doc__)
    for source, target in zip(paths[::2], paths[1::2]):
        convert(source, target)


if __name__ == "__main__":
    main(sys.argv[1:])
