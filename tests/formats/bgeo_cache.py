"""Reads tribo's own frames (docs/file_format.md) with nothing but Python and the zstd library."""
import array
import ctypes
import ctypes.util
import json
import struct


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


def read(path):
    """The meta data, and the arrays by name: (components, values)."""
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

    text()  # the kind
    meta, arrays = json.loads(text()), {}
    begin, = struct.unpack_from("<Q", preamble, 16)
    for _ in range(take("I")[0]):
        name, (type_, components, _, _, stored_size, _) = text(), take("BIQQQQ")
        values = array.array("fdiqIQB"[type_])
        end = begin + stored_size
        while begin < end:
            size, = struct.unpack_from("<I", rest, begin)
            shuffled = _decompress(library, rest[begin + 4:begin + 4 + size])
            width, raw = values.itemsize, bytearray(len(shuffled))
            n = len(shuffled) // width
            for k in range(width):
                raw[k::width] = shuffled[k * n:(k + 1) * n]
            values.frombytes(raw)
            begin += 4 + size
        arrays[name] = (components, values)
    return meta, arrays
