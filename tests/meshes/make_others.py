"""Writes the fixtures of other tools' formats, and what VTK's readers find in them (expected.csv).

    pip install gmsh meshio vtk numpy && python make_others.py

A plate with a hole in linear and in quadratic tets by Gmsh, with physical groups; the same by meshio and by VTK in every way these can write it.
instances.vtu is what instances.inp, which was written by hand, says of its parts, put in their places by VTK.
"""

import csv
import os
import tempfile
from collections import Counter

import gmsh
import meshio
import numpy
import vtk
from vtk.util import numpy_support

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def plate(order):
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.add("plate")
    block = gmsh.model.occ.addBox(0, 0, 0, 2, 1, 0.4)
    hole = gmsh.model.occ.addCylinder(1.2, 0.5, -1, 0, 0, 3, 0.25)
    gmsh.model.occ.cut([(3, block)], [(3, hole)])
    gmsh.model.occ.synchronize()
    faces = gmsh.model.getEntities(2)
    centre = {tag: gmsh.model.occ.getCenterOfMass(2, tag) for _, tag in faces}
    left = [t for t, c in centre.items() if abs(c[0]) < 1e-9]
    bore = [t for t, c in centre.items() if abs(c[0] - 1.2) < 1e-9 and abs(c[1] - 0.5) < 1e-9 and 0.1 < c[2] < 0.3]
    gmsh.model.addPhysicalGroup(3, [t for _, t in gmsh.model.getEntities(3)], 1, "plate")
    gmsh.model.addPhysicalGroup(2, left, 2, "left")
    gmsh.model.addPhysicalGroup(2, bore, 3, "bore")
    gmsh.option.setNumber("Mesh.MeshSizeMin", 0.4)
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
    gmsh.option.setNumber("Mesh.ElementOrder", order)
    gmsh.model.mesh.generate(3)
    name = "tet10" if order == 2 else "tet4"
    gmsh.option.setNumber("Mesh.Binary", 0)
    if order == 2:
        gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
        gmsh.write("plate-tet10-41-ascii.msh")
        gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
        gmsh.option.setNumber("Mesh.Binary", 1)
        gmsh.write("plate-tet10-22-binary.msh")
        gmsh.option.setNumber("Mesh.Binary", 0)
    gmsh.option.setNumber("Mesh.SaveGroupsOfNodes", 1)
    gmsh.option.setNumber("Mesh.SaveGroupsOfElements", 1)
    gmsh.write(f"plate-{name}-gmsh.inp")
    gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
    path = os.path.join(tempfile.gettempdir(), f"plate-{name}.msh")
    gmsh.write(path)
    gmsh.finalize()
    return meshio.read(path)


def written_by_meshio(mesh, name):
    plain = meshio.Mesh(mesh.points, mesh.cells, cell_data={"group": [numpy.asarray(a, numpy.int32) for a in mesh.cell_data["gmsh:physical"]]})
    meshio.write(f"plate-{name}-ascii.vtu", plain, "vtu", binary=False)
    meshio.write(f"plate-{name}-zlib.vtu", plain, "vtu", binary=True, compression="zlib")
    meshio.write(f"plate-{name}-42-binary.vtk", plain, "vtk42", binary=True)
    meshio.write(f"plate-{name}-42-ascii.vtk", plain, "vtk42", binary=False)
    solid = meshio.Mesh(mesh.points, [c for c in mesh.cells if c.type.startswith("tetra")], point_sets={"left": numpy.where(abs(mesh.points[:, 0]) < 1e-9)[0]})
    meshio.write(f"plate-{name}-meshio.inp", solid, "abaqus")


def written_by_vtk(name):
    grid = read(f"plate-{name}-ascii.vtu")
    if name == "tet4":
        return skin(grid, name)
    for mode, encode, word in [("Appended", False, "raw"), ("Appended", True, "base64"), ("Binary", True, "inline")]:
        for compressed in [False, True]:
            writer = vtk.vtkXMLUnstructuredGridWriter()
            writer.SetInputData(grid)
            getattr(writer, f"SetDataModeTo{mode}")()
            writer.SetEncodeAppendedData(encode)
            if compressed:
                writer.SetCompressorTypeToZLib()
                writer.SetBlockSize(1000 * 24)
            else:
                writer.SetCompressorTypeToNone()
                writer.SetByteOrderToBigEndian()
                writer.SetHeaderTypeToUInt64()
            writer.SetFileName(f"plate-{name}-vtk-{word}{'-zlib' if compressed else ''}.vtu")
            writer.Write()
    writer = vtk.vtkUnstructuredGridWriter()
    writer.SetInputData(grid)
    for kind in ["ASCII", "Binary"]:
        getattr(writer, f"SetFileTypeTo{kind}")()
        writer.SetFileName(f"plate-{name}-vtk-{kind.lower()}.vtk")
        writer.Write()


def skin(grid, name):
    tets = vtk.vtkExtractCellsByType()
    tets.AddCellType(vtk.VTK_TETRA)
    tets.SetInputData(grid)
    surface = vtk.vtkGeometryFilter()
    surface.SetInputConnection(tets.GetOutputPort())
    triangles = vtk.vtkTriangleFilter()
    triangles.SetInputConnection(surface.GetOutputPort())
    stl = vtk.vtkSTLWriter()
    stl.SetInputConnection(triangles.GetOutputPort())
    stl.SetFileTypeToBinary()
    stl.SetFileName(f"plate-{name}.stl")
    stl.Write()


def read(path):
    if path.endswith(".vtu"):
        reader = vtk.vtkXMLUnstructuredGridReader()
    else:
        reader = vtk.vtkUnstructuredGridReader()
        reader.ReadAllScalarsOn()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def expected(path, grid):
    """Tets, points they use, checksums of corners in order, sizes of groups."""
    points = numpy_support.vtk_to_numpy(grid.GetPoints().GetData())
    groups = numpy_support.vtk_to_numpy(grid.GetCellData().GetArray("group"))
    used, sums, count = set(), numpy.zeros(3), Counter()
    tets = 0
    for c in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(c)
        count[int(groups[c])] += 1
        if cell.GetCellType() in (10, 24):
            ids = [cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())]
            used.update(ids)
            tets += 1
            for k, node in enumerate(ids):
                sums += (k + 1) * points[node]
    return [path, tets, len(used), *(repr(float(s)) for s in sums), count[1], count[2], count[3]]


def instances():
    """The parts of instances.inp where vtkTransform puts them, with an array for every set."""
    block = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0), (0, 0, 0.5), (2, 0, 0.5), (2, 1, 0.5), (0, 1, 0.5)]
    tip = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    # corners, cell, shift, line and angle, nodes of feet, member of moved
    parts = [
        (block, vtk.VTK_HEXAHEDRON, (0, 0, 0), None, [0, 1, 2, 3], 0),
        (block, vtk.VTK_HEXAHEDRON, (5, 0, -1), ((5, 0, -1), (5, 1, -1), 30), [], 1),
        (block, vtk.VTK_HEXAHEDRON, (-4, 1.5, 0.25), ((1, 2, 3), (2, 0, 5), -107.5), [0, 1, 2, 3], 1),
        (tip, vtk.VTK_TETRA, (0, 7, 0), None, [0], 1),
    ]
    points, grid = vtk.vtkPoints(), vtk.vtkUnstructuredGrid()
    points.SetDataTypeToDouble()
    labels = {name: vtk.vtkIntArray() for name in ["instance", "moved", "feet"]}
    for number, (corners, cell, shift, turn, feet, moved) in enumerate(parts):
        place = vtk.vtkTransform()
        place.PostMultiply()
        place.Translate(shift)
        if turn:
            begin, end, angle = turn
            place.Translate([-x for x in begin])
            place.RotateWXYZ(angle, [b - a for a, b in zip(begin, end)])
            place.Translate(begin)
        ids = [points.InsertNextPoint(place.TransformPoint(x)) for x in corners]
        grid.InsertNextCell(cell, len(ids), ids)
        labels["instance"].InsertNextValue(number)
        labels["moved"].InsertNextValue(moved)
        for k in range(len(ids)):
            labels["feet"].InsertNextValue(int(k in feet))
    grid.SetPoints(points)
    for name, values in labels.items():
        values.SetName(name)
        (grid.GetPointData() if name == "feet" else grid.GetCellData()).AddArray(values)
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetInputData(grid)
    writer.SetDataModeToAscii()
    writer.SetFileName("instances.vtu")
    writer.Write()


instances()
rows = []
for order, name in [(1, "tet4"), (2, "tet10")]:
    mesh = plate(order)
    written_by_meshio(mesh, name)
    written_by_vtk(name)
    for path in sorted(os.listdir(".")):
        if path.startswith(f"plate-{name}-") and path.endswith((".vtu", ".vtk")):
            rows.append(expected(path, read(path)))
    # VTK reads neither of these: what it finds in the same mesh
    grid = read(f"plate-{name}-ascii.vtu")
    for path in [f"plate-{name}-gmsh.inp", f"plate-{name}-meshio.inp"] + (["plate-tet10-41-ascii.msh", "plate-tet10-22-binary.msh"] if order == 2 else []):
        rows.append(expected(path, grid))
with open("expected.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["file", "tets", "points", "x", "y", "z", "group1", "group2", "group3"])
    out.writerows(rows)
