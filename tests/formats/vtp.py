"""Reads .vtp and .pvd files by the description of VTK's XML formats alone, with nothing but Python's own library."""
import array
import struct
import xml.etree.ElementTree as ElementTree

from tbf import rows_of

TYPE_CODES = {"Float32": "f", "Float64": "d", "Int32": "i", "Int64": "q", "UInt32": "I", "UInt64": "Q", "UInt8": "B"}


class PolyData:
    """field, point_data, cells: {name: rows}; points: rows; cells has "Verts", "Lines", "Polys": lists of tuples."""

    def __init__(self, path):
        with open(path, "rb") as file:
            content = file.read()
        begin = content.index(b"_", content.index(b"<AppendedData")) + 1
        root = ElementTree.fromstring(content[:begin] + b"</AppendedData></VTKFile>")
        assert root.attrib == {
            "type": "PolyData", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"}, root.attrib
        assert root.find("AppendedData").get("encoding") == "raw"
        self._data, self._used = memoryview(content)[begin:], 0
        piece = root.find("PolyData/Piece")
        self.field = {e.get("Name"): self._values(e) for e in root.find("PolyData/FieldData")}
        self.point_data = {e.get("Name"): self._values(e) for e in piece.find("PointData")}
        self.type_codes = {e.get("Name"): TYPE_CODES[e.get("type")] for e in piece.find("PointData")}
        self.points = self._values(piece.find("Points/DataArray"))
        assert int(piece.get("NumberOfPoints")) == len(self.points)
        self.cells = {}
        for kind in ("Verts", "Lines", "Strips", "Polys"):
            self.cells[kind] = [] if piece.find(kind) is None else self._cells(piece.find(kind))
            assert int(piece.get("NumberOf" + kind)) == len(self.cells[kind])
        assert bytes(self._data[self._used :]) == b"\n</AppendedData>\n</VTKFile>\n", "bytes that nothing refers to"

    def _values(self, element):
        if element.get("format") == "ascii":
            return [float(word) for word in element.text.split()]
        offset = int(element.get("offset"))
        (size,) = struct.unpack_from("<Q", self._data, offset)
        raw = self._data[offset + 8 : offset + 8 + size]
        assert len(raw) == size
        self._used = max(self._used, offset + 8 + size)
        if element.get("type") == "String":
            names = bytes(raw).decode().split("\0")
            assert names.pop() == "" and len(names) == int(element.get("NumberOfTuples"))
            return names
        values = array.array(TYPE_CODES[element.get("type")], bytes(raw))
        return rows_of(int(element.get("NumberOfComponents", 1)), values)

    def _cells(self, element):
        connectivity, offsets = [self._values(e) for e in element]
        assert all(0 <= point < len(self.points) for point in connectivity)
        assert not offsets or offsets[-1] == len(connectivity)
        return [tuple(connectivity[a:b]) for a, b in zip([0] + offsets, offsets)]


def read_collection(path):
    """[(timestep, part, name, file)] of a .pvd file."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "VTKFile" and root.get("type") == "Collection"
    entries = root.find("Collection")
    return [(float(e.get("timestep")), int(e.get("part")), e.get("name"), e.get("file")) for e in entries]
