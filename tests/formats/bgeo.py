#!/usr/bin/env python3
"""bgeo.py FILE.bgeo FRAME.tbf [MESH ...]: checks a Houdini geometry file against the published layout of geometry in
binary JSON (that of Houdini's own hjson.py and hgeo.py), and its points against tribo's frame, number by number. Every
MESH is the name of a body whose triangles must be there. Shares no code with the program that wrote the file."""
import array
import struct
import sys

import tbf

SCALARS = {0x11: "b", 0x12: "h", 0x13: "i", 0x14: "q", 0x19: "f", 0x1a: "d", 0x21: "B", 0x22: "H"}
STORAGE = {"fpreal32": "f", "fpreal64": "d", "int32": "i", "int64": "q"}


class Bad(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Bad(message)


class BinaryJson:
    """The values of a file; arrays of numbers of one type come as array.array."""

    def __init__(self, data):
        require(data[:5] == b"\x7fNSJb", "does not begin with the magic of little-endian binary JSON")
        self.data, self.at, self.words = data, 5, {}

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values[0] if len(values) == 1 else values

    def length(self):
        first = self.take("B")
        if first < 0xf1:
            return first
        require(first in (0xf2, 0xf4, 0xf8), f"length byte {first:#x} at {self.at - 1:#x}")
        value = self.take({0xf2: "H", 0xf4: "I", 0xf8: "q"}[first])
        require(value >= 0xf1, "a length is longer than need be")
        return value

    def string(self):
        size = self.length()
        require(self.at + size <= len(self.data), "a string is longer than the file")
        self.at += size
        return self.data[self.at - size:self.at].decode("utf-8")

    def id(self):
        while True:
            kind = self.take("B")
            if kind != 0x2b:
                return kind
            number = self.length()
            require(number not in self.words, f"word {number} is defined twice")
            self.words[number] = self.string()

    def value(self, kind=None):
        kind = self.id() if kind is None else kind
        if kind in SCALARS:
            return self.take(SCALARS[kind])
        if kind == 0x26:
            number = self.length()
            require(number in self.words, f"word {number} is not defined")
            return self.words[number]
        if kind == 0x27:
            return self.string()
        if kind in (0x30, 0x31):
            return kind == 0x31
        if kind == 0x5b:
            items = []
            while (kind := self.id()) != 0x5d:
                items.append(self.value(kind))
            return items
        if kind == 0x7b:
            items = {}
            while (kind := self.id()) != 0x7d:
                key = self.value(kind)
                require(isinstance(key, str) and key not in items, f"key {key!r} of a map")
                items[key] = self.value()
            return items
        require(kind == 0x40, f"unknown kind {kind:#x} at {self.at - 1:#x}")
        kind = self.take("B")
        require(kind in SCALARS, f"uniform array of kind {kind:#x}")
        numbers, count = array.array(SCALARS[kind]), self.length()
        size = count * numbers.itemsize
        require(self.at + size <= len(self.data), "an array is longer than the file")
        numbers.frombytes(self.data[self.at:self.at + size])
        self.at += size
        return numbers

    def document(self):
        value = self.value()
        require(self.at == len(self.data), "bytes after the end")
        return value


def pairs(items, required, optional=()):
    """The schema writes dictionaries as lists of keys and values, in this order."""
    require(isinstance(items, list) and len(items) % 2 == 0, "expected a list of keys and values")
    keys = items[0::2]
    require(len(set(keys)) == len(keys), f"a key comes twice: {keys}")
    require(set(required) <= set(keys), f"keys are missing: {set(required) - set(keys)}")
    require(set(keys) <= set(required) | set(optional), f"unknown keys: {set(keys) - set(required) - set(optional)}")
    return dict(zip(keys, items[1::2]))


def tuples(items, count):
    """Values of an attribute; without constant pages and with whole tuples they just follow each other."""
    values = pairs(items, ["size", "storage", "pagesize", "rawpagedata"])
    raw = values["rawpagedata"]
    require(values["pagesize"] == 1024, "page size")
    require(isinstance(raw, array.array) and raw.typecode == STORAGE[values["storage"]], "storage")
    require(len(raw) == count * values["size"], f"{len(raw)} numbers for {count} elements of {values['size']}")
    return values["size"], values["storage"], raw


def attributes(items, count):
    result = {}
    for attribute in items:
        require(isinstance(attribute, list) and len(attribute) == 2, "an attribute is a definition and values")
        definition = pairs(attribute[0], ["scope", "type", "name", "options"])
        name, kind, options = definition["name"], definition["type"], definition["options"]
        require(definition["scope"] == "public" and name not in result, f"attribute {name}")
        require(isinstance(options, dict), "options")
        meaning = options.get("type", {"type": "string", "value": ""})
        require(meaning["type"] == "string", "the meaning of an attribute is a string")
        if kind == "numeric":
            body = pairs(attribute[1], ["size", "storage", "defaults", "values"])
            defaults = pairs(body["defaults"], ["size", "storage", "values"])
            require(len(defaults["values"]) == defaults["size"] == 1, "defaults")
            size, storage, values = tuples(body["values"], count)
        else:
            require(kind == "string", f"attribute of type {kind}")
            body = pairs(attribute[1], ["size", "storage", "strings", "indices"])
            strings = body["strings"]
            require(all(isinstance(s, str) and s for s in strings) and len(set(strings)) == len(strings), "strings")
            size, storage, indices = tuples(body["indices"], count)
            require(all(-1 <= i < len(strings) for i in indices), "index of a string")
            values = [strings[i] if i >= 0 else "" for i in indices]
        require((size, storage) == (body["size"], body["storage"]), f"two sizes or storages of {name}")
        result[name] = (size, storage, meaning["value"], values)
    return result


def polygons(items, vertex_count, primitive_count):
    """Lists of vertices, with whether they are closed."""
    result, vertex = [], 0
    for primitive in items:
        require(len(primitive) == 2, "primitives are a definition and data")
        kind = pairs(primitive[0], ["type"])["type"]
        require(kind in ("Polygon_run", "PolygonCurve_run"), f"primitives of type {kind}")
        run = pairs(primitive[1], ["startvertex", "nprimitives", "nvertices_rle"])
        require(run["startvertex"] == vertex, "runs do not follow each other")
        before, lengths = len(result), run["nvertices_rle"]
        for size, times in zip(lengths[0::2], lengths[1::2]):
            require(size >= 2 and times >= 1, "length of a run")
            for _ in range(times):
                result.append((kind == "Polygon_run", range(vertex, vertex + size)))
                vertex += size
        require(len(result) - before == run["nprimitives"], "primitives of a run")
    require(vertex == vertex_count and len(result) == primitive_count, "counts of vertices or primitives")
    return result


def load(path):
    with open(path, "rb") as file:
        document = BinaryJson(file.read()).document()
    geometry = pairs(document, ["fileversion", "hasindex", "pointcount", "vertexcount", "primitivecount", "info",
                                "topology", "attributes", "primitives"])
    require(geometry["hasindex"] is False and isinstance(geometry["info"], dict), "header")
    require([int(n) for n in geometry["fileversion"].split(".")] >= [12], "version")
    points, vertices, count = (geometry[k] for k in ("pointcount", "vertexcount", "primitivecount"))
    indices = pairs(pairs(geometry["topology"], ["pointref"])["pointref"], ["indices"])["indices"]
    require(len(indices) == vertices and all(0 <= i < points for i in indices), "topology")
    kinds = pairs(geometry["attributes"], ["pointattributes", "globalattributes"], ["primitiveattributes"])
    return {"points": points, "indices": indices, "polygons": polygons(geometry["primitives"], vertices, count),
            "point": attributes(kinds["pointattributes"], points),
            "primitive": attributes(kinds.get("primitiveattributes", []), count),
            "global": attributes(kinds["globalattributes"], 1)}


def same_vectors(geometry, name, column, rows):
    """Bit for bit; z is 0 where the frame has two dimensions."""
    size, storage, _, values = geometry["point"][name]
    components, numbers = column
    require(size == 3 and STORAGE[storage] == numbers.typecode, f"{name} is {storage}[{size}]")
    expected = array.array(numbers.typecode)
    if components == 3:
        expected = numbers
    else:
        for i in range(0, len(numbers), components):
            expected.extend([*numbers[i:i + components], 0][:3])
    require(values[:3 * rows].tobytes() == expected.tobytes(), f"{name} is not that of the frame")


def compare(geometry, meta, frame):
    rows = len(frame["x"][1]) // frame["x"][0]
    point = geometry["point"]
    require(point["P"][2] == "point" and point["v"][2] == "vector" and point["Cd"][2] == "color", "meanings")
    same_vectors(geometry, "P", frame["x"], rows)
    same_vectors(geometry, "v", frame["v"], rows)
    for name, other in (("id", "id"), ("J", "J"), ("strain", "strain"), ("object", "object")):
        if name in frame:
            require(list(point[name][3][:rows]) == list(frame[other][1]), f"{name} is not that of the frame")
    for name, column, names in (("name", "object", meta["objects"]), ("material", "material", meta["materials"])):
        require(point[name][3][:rows] == [names[i] for i in frame[column][1]], f"{name} is not that of the frame")
    require(all(r > 0 for r in point["pscale"][3][:rows]), "pscale")
    require(all(0 <= c <= 1 for c in point["Cd"][3]), "Cd")
    require(geometry["global"]["time"][3][0] == meta["time"], "time")
    require(geometry["global"]["frame"][3][0] == meta["number"], "frame")


def main(path, cache, *meshes):
    geometry = load(path)
    _, meta, frame = tbf.read(cache)
    compare(geometry, meta, frame)
    names = geometry["primitive"].get("name", (0, 0, 0, []))[3]
    require(set(names) == set(meshes), f"meshes {set(names)}, expected {set(meshes)}")
    require(all(closed and len(vertices) == 3 for closed, vertices in geometry["polygons"]), "triangles")
    print(f"{path}: {geometry['points']} points, {len(geometry['polygons'])} primitives, "
          f"{len(frame['x'][1]) // frame['x'][0]} particles as in {cache}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Bad, ValueError, KeyError, TypeError, struct.error) as error:
        sys.exit(f"{sys.argv[1]}: {type(error).__name__}: {error}")
