"""check_vtk.py RUN VTK_DIRECTORY NAME: the .vtp files hold what the frames of the run hold, to the bit, and the .pvd
file lists them. Read by vtp.py, and by VTK itself where its Python module is installed; without it the exit code is 77."""
import glob
import json
import os
import sys

import tbf
import vtp

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
except ImportError:
    vtkXMLPolyDataReader = None


class ByVtk:
    """The same as vtp.PolyData, read by VTK."""

    def __init__(self, path):
        reader = vtkXMLPolyDataReader()
        errors = []
        for event in ("ErrorEvent", "WarningEvent"):
            reader.AddObserver(event, lambda _, name: errors.append(name))
        assert reader.CanReadFile(path), path
        reader.SetFileName(path)
        reader.Update()
        assert not errors, (path, errors)
        data = reader.GetOutput()

        def rows(values):
            return [] if values is None else list(map(plain, vtk_to_numpy(values)))

        field = data.GetFieldData()
        self.field = {}
        for i in range(field.GetNumberOfArrays()):
            values = field.GetAbstractArray(i)
            self.field[values.GetName()] = [values.GetValue(k) for k in range(values.GetNumberOfValues())]
        point_data = data.GetPointData()
        arrays = [point_data.GetArray(i) for i in range(point_data.GetNumberOfArrays())]
        self.point_data = {values.GetName(): rows(values) for values in arrays}
        self.type_codes = {values.GetName(): vtk_to_numpy(values).dtype.char for values in arrays}
        self.type_codes = {name: {"l": "q", "L": "Q"}.get(code, code) for name, code in self.type_codes.items()}
        self.points = rows(data.GetPoints().GetData()) if data.GetPoints() else []
        self.cells = {}
        for kind in ("Verts", "Lines", "Strips", "Polys"):
            cells = getattr(data, "Get" + kind)()
            connectivity = rows(cells.GetConnectivityArray())
            offsets = rows(cells.GetOffsetsArray())
            self.cells[kind] = [tuple(connectivity[a:b]) for a, b in zip(offsets, offsets[1:])]


def plain(row):
    """Rows of NumPy as rows of Python."""
    return tuple(row.tolist()) if row.ndim else row.item()


def same(what, a, b):
    assert a == b, f"{what} differ: {str(a)[:300]} ... {str(b)[:300]}"


def check_particles(data, frame):
    columns, count = frame.columns, len(frame.columns["x"])
    same("positions", data.points, columns["x"])
    same("velocities", data.point_data["velocity"], columns["v"])
    for name in ("id", "object", "material", "J", "strain"):
        same(name, data.point_data[name], columns[name])
    for name, source in (("velocity", "v"), ("id", "id"), ("J", "J"), ("strain", "strain")):
        same("type of " + name, data.type_codes[name], frame.type_codes[source])
    same("vertices", data.cells["Verts"], [(i,) for i in range(count)])
    for kind in ("Lines", "Strips", "Polys"):
        same(kind, data.cells[kind], [])
    assert all(radius > 0 for radius in data.point_data["radius"])
    looks = set(zip(columns["object"], data.point_data["radius"], data.point_data["color"]))
    same("one look for each object", len(looks), len(frame.objects))
    same("time", data.field["TimeValue"], [frame.time])
    same("names of objects", data.field["objects"][: len(frame.objects)], frame.objects)
    same("names of materials", data.field["materials"], frame.materials)


def check_colliders(data, scene, frame):
    names = [collider["name"] for collider in scene["colliders"]]
    same("names of colliders", data.field["objects"][len(frame.objects) :], names)
    same("time", data.field["TimeValue"], [frame.time])
    first = len(frame.objects)
    assert set(data.point_data["object"]) == set(range(first, first + len(names)))
    assert set(data.point_data["material"]) == {-1}
    for kind in ("Verts", "Lines", "Strips"):
        same(kind, data.cells[kind], [])
    assert data.cells["Polys"]
    for triangle in data.cells["Polys"]:
        assert len(set(triangle)) == 3
        assert len({data.point_data["object"][corner] for corner in triangle}) == 1, "a triangle across two colliders"


def main(run, directory, name):
    with open(run + "/scene.json", encoding="utf-8") as file:
        scene = json.load(file)
    paths = sorted(glob.glob(run + "/frames/*.tbf"))
    assert paths
    readers = [vtp.PolyData] + ([ByVtk] if vtkXMLPolyDataReader else [])
    expected = []
    for path in paths:
        frame = tbf.Frame(path)
        files = [f"{name}_{frame.number:06}.vtp", f"{name}_colliders_{frame.number:06}.vtp"]
        expected.append((frame.number / scene["fps"], 0, "particles", files[0]))
        expected.append((frame.number / scene["fps"], 3, "colliders", files[1]))
        for read in readers:
            check_particles(read(os.path.join(directory, files[0])), frame)
            check_colliders(read(os.path.join(directory, files[1])), scene, frame)
    same("entries of the .pvd", vtp.read_collection(os.path.join(directory, name + ".pvd")), expected)
    listing = sorted(file for *_, file in expected) + [name + ".pvd"]
    same("files", sorted(os.listdir(directory)), sorted(listing))
    print(f"{len(paths)} frames read by {', '.join(reader.__name__ for reader in readers)}")
    if not vtkXMLPolyDataReader:
        print("SKIPPED: the files were not opened with VTK itself (Debian package python3-vtk9 is not installed)")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
