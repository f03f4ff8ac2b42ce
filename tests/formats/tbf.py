"""Reads tribo's own frames (docs/file_format.md), so that files in other formats can be compared with them."""
import array
import json
import struct

import zstandard


class Frame:
    """number, time, objects, materials; columns[NAME] = rows, each a tuple or, with one component, a number."""

    def __init__(self, path):
        _, meta, arrays = read(path)
        self.number = meta["number"]
        self.time = meta["time"]
        self.objects = meta["objects"]
        self.materials = meta["materials"]
        self.columns = {name: rows_of(*table) for name, table in arrays.items()}
        self.type_codes = {name: values.typecode for name, (_, values) in arrays.items()}


def rows_of(components, values):
    """A flat array as rows."""
    return list(values) if components == 1 else list(zip(*[iter(values)] * components))


def read(path):
    """kind, meta, {name: (components, flat array)}"""
    with open(path, "rb") as file:
        preamble, rest = file.read(40), file.read()
    at = 0

    def take(layout):
        nonlocal at
        values = struct.unpack_from("<" + layout, rest, at)
        at += struct.calcsize("<" + layout)
        return values

    def text():
        return take(f"{take('I')[0]}s")[0].decode()

    kind, meta, arrays = text(), json.loads(text()), {}
    (begin,) = struct.unpack_from("<Q", preamble, 16)
    for _ in range(take("I")[0]):
        name, (type_, components, _, _, stored_size, _) = text(), take("BIQQQQ")
        values = array.array("fdiqIQB"[type_])
        end = begin + stored_size
        while begin < end:
            (size,) = struct.unpack_from("<I", rest, begin)
            shuffled = zstandard.decompress(rest[begin + 4 : begin + 4 + size])
            raw, count = bytearray(len(shuffled)), len(shuffled) // values.itemsize
            for k in range(values.itemsize):
                raw[k :: values.itemsize] = shuffled[k * count : (k + 1) * count]
            values.frombytes(raw)
            begin += 4 + size
        arrays[name] = (components, values)
    return kind, meta, arrays
