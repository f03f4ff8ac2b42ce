"""check_vtu.py RUN VTU_DIRECTORY NAME: the .vtu files, read by meshio, hold the tets of the run's frames to the bit, and J is
the volume of each tet over what it was at the start; the .pvd file lists them. VTK's own reader agrees where it is installed."""
import glob
import os
import sys

import meshio
import numpy

import tbf

try:
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError:
    vtkXMLUnstructuredGridReader = None


def volumes(points, tets):
    x = numpy.asarray(points, float)[tets]
    return numpy.einsum("ij,ij->i", numpy.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), x[:, 3] - x[:, 0]) / 6


def main(run, directory, name):
    paths = sorted(glob.glob(run + "/frames/*.tbf"))
    assert paths
    rest = None
    for path in paths:
        _, meta, _ = tbf.read(path)
        columns = tbf.Frame(path).columns
        bodies = meta["tets"]
        points, velocities, tets, ratios, objects = [], [], [], [], []
        for n, body in enumerate(bodies):
            tets += [tuple(len(points) + i for i in tet) for tet in columns[f"tets {n}/tets"]]
            objects += [meta["objects"].index(body)] * len(columns[f"tets {n}/tets"])
            points += columns[f"tets {n}/x"]
            velocities += columns[f"tets {n}/v"]
            ratios += columns[f"tets {n}/J"]
        file = os.path.join(directory, f"{name}_{meta['number']:06}.vtu")
        mesh = meshio.read(file)
        assert [cells.type for cells in mesh.cells] == ["tetra"], mesh.cells
        assert [tuple(row) for row in mesh.points.tolist()] == points, "points differ"
        assert [tuple(row) for row in mesh.point_data["velocity"].tolist()] == velocities, "velocities differ"
        assert [tuple(row) for row in mesh.cells[0].data.tolist()] == tets, "tets differ"
        assert mesh.cell_data["J"][0].tolist() == ratios, "J differs"
        assert mesh.cell_data["object"][0].tolist() == objects, "objects differ"
        now = volumes(points, tets)
        rest = now if rest is None else rest
        assert (rest > 0).all()
        assert numpy.allclose(ratios, now / rest, rtol=1e-4), "J is no ratio of volumes"
        if vtkXMLUnstructuredGridReader is not None:
            reader = vtkXMLUnstructuredGridReader()
            assert reader.CanReadFile(file)
            reader.SetFileName(file)
            reader.Update()
            grid = reader.GetOutput()
            assert grid.GetNumberOfPoints() == len(points) and grid.GetNumberOfCells() == len(tets)
            assert grid.GetCellData().GetArray("J").GetValue(5) == ratios[5]
            assert abs(grid.GetFieldData().GetArray("TimeValue").GetValue(0) - meta["time"]) < 1e-9
    assert max(abs(numpy.asarray(ratios) - 1)) > 1e-3, "nothing is deformed"
    with open(os.path.join(directory, name + ".pvd")) as file:
        assert file.read().count("<DataSet") == len(paths)


main(*sys.argv[1:])
