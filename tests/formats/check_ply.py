"""check_ply.py RUN PLY_DIRECTORY NAME VTK_DIRECTORY: the .ply files, read by meshio, hold what the frames of the run
hold, to the bit, and the surfaces of colliders that the .vtp files hold."""
import glob
import os
import sys

import meshio
import numpy

import tbf
import vtp


def rows(data, names):
    """Columns side by side, as rows of Python's numbers."""
    return [tuple(row) for row in zip(*[data[name].tolist() for name in names])]


def colors(mesh):
    # meshio takes uchar as signed.
    return rows({k: v.astype(numpy.uint8) for k, v in mesh.point_data.items()}, ("red", "green", "blue"))


def same(what, a, b):
    assert a == b, f"{what} differ: {str(a)[:300]} ... {str(b)[:300]}"


def check_points(mesh, points, velocities, names, values, rgb):
    same("positions", [tuple(row) for row in mesh.points.tolist()], points)
    same("velocities", rows(mesh.point_data, ("vx", "vy", "vz")), velocities)
    for name in names:
        same(name, mesh.point_data[name].tolist(), values[name])
    same("colors", colors(mesh), rgb)


def main(run, directory, name, vtk_directory):
    paths = sorted(glob.glob(run + "/frames/*.tbf"))
    assert paths
    for path in paths:
        frame = tbf.Frame(path)
        particles, colliders = [f"{part}{frame.number:06}" for part in (name + "_", name + "_colliders_")]
        mesh = meshio.read(os.path.join(directory, particles + ".ply"))
        vtk = vtp.PolyData(os.path.join(vtk_directory, particles + ".vtp"))
        columns = frame.columns
        check_points(mesh, columns["x"], columns["v"], ("id", "object", "material", "J", "strain"), columns,
                     vtk.point_data["color"])
        same("radius", mesh.point_data["radius"].tolist(), vtk.point_data["radius"])
        same("type of positions", mesh.points.dtype.char, frame.type_codes["x"])

        mesh = meshio.read(os.path.join(directory, colliders + ".ply"))
        vtk = vtp.PolyData(os.path.join(vtk_directory, colliders + ".vtp"))
        check_points(mesh, vtk.points, vtk.point_data["velocity"], ("object", "material"), vtk.point_data,
                     vtk.point_data["color"])
        same("triangles", [tuple(t) for t in mesh.cells_dict["triangle"].tolist()], vtk.cells["Polys"])
    same("number of files", len(os.listdir(directory)), 2 * len(paths))
    print(f"{len(paths)} frames read by meshio {meshio.__version__}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
