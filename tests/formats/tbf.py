"""Reads tribo's own frames (docs/file_format.md), so that files in other formats can be compared with them.
Needs nothing but Python and the zstd library."""
import array
import ctypes
import ctypes.util
import json
import struct


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


def _zstd():
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    library.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library


def _decompress(library, data):
    size = library.ZSTD_getFrameContentSize(data, len(data))
    if size > 1 << 30:
        raise ValueError("a chunk does not tell its size")
    raw = ctypes.create_string_buffer(max(size, 1))
    if library.ZSTD_decompress(raw, size, data, len(data)) != size:
        raise ValueError("a chunk does not decompress")
    return raw.raw[:size]


def rows_of(components, values):
    """A flat array as rows."""
    return list(values) if components == 1 else list(zip(*[iter(values)] * components))


def read(path):
    """kind, meta, {name: (components, flat array)}"""
    library = _zstd()
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
            shuffled = _decompress(library, rest[begin + 4 : begin + 4 + size])
            raw, count = bytearray(len(shuffled)), len(shuffled) // values.itemsize
            for k in range(values.itemsize):
                raw[k :: values.itemsize] = shuffled[k * count : (k + 1) * count]
            values.frombytes(raw)
            begin += 4 + size
        arrays[name] = (components, values)
    return kind, meta, arrays
