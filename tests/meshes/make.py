"""Makes the Gmsh files of this folder: four geometries, each in four formats, and a few that stand apart.

Needs the Python package gmsh (4.15). Run it in this folder; the files are committed, so tests do not need it.
"""

import gmsh


def write(name, parametric=False):
    gmsh.option.setNumber("Mesh.SaveParametric", int(parametric))
    for version, short in ((4.1, "41"), (2.2, "22")):
        for binary, kind in ((0, "ascii"), (1, "binary")):
            if parametric and version == 2.2:
                continue  # format 2.2 has another, older way to store them
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.option.setNumber("Mesh.Binary", binary)
            gmsh.write(f"{name}-{short}-{kind}.msh")


def start(size):
    gmsh.clear()
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.option.setNumber("Mesh.ElementOrder", 1)
    gmsh.option.setNumber("Mesh.SaveAll", 0)


def plate_with_hole(order=1):
    start(0.5)
    occ = gmsh.model.occ
    plate = occ.addRectangle(0, 0, 0, 2, 1)
    occ.cut([(2, plate)], [(2, occ.addDisk(0.7, 0.5, 0, 0.2, 0.2))])
    occ.synchronize()
    gmsh.model.addPhysicalGroup(2, [plate], name="plate")
    for name, box in (("left", (-1, -1, 0.1, 2)), ("right", (1.9, -1, 2.1, 2)), ("hole", (0.4, 0.2, 1, 0.8))):
        x0, y0, x1, y1 = box
        curves = [t for _, t in gmsh.model.getEntitiesInBoundingBox(x0, y0, -1, x1, y1, 1, dim=1)]
        gmsh.model.addPhysicalGroup(1, curves, name=name)
    corner = gmsh.model.getEntitiesInBoundingBox(-0.1, -0.1, -1, 0.1, 0.1, 1, dim=0)
    gmsh.model.addPhysicalGroup(0, [t for _, t in corner], name="corner")
    gmsh.model.mesh.generate(2)
    gmsh.model.mesh.setOrder(order)


def two_quad_regions():
    """Two squares side by side; the left one belongs to two groups, and the line between them is named."""
    start(0.5)
    geo = gmsh.model.geo
    p = [geo.addPoint(x, y, 0) for y in (0, 1) for x in (0, 1, 2.5)]
    bottom = [geo.addLine(p[0], p[1]), geo.addLine(p[1], p[2])]
    top = [geo.addLine(p[3], p[4]), geo.addLine(p[4], p[5])]
    upright = [geo.addLine(p[k], p[k + 3]) for k in range(3)]
    faces = []
    for k in range(2):
        loop = geo.addCurveLoop([bottom[k], upright[k + 1], -top[k], -upright[k]])
        faces.append(geo.addPlaneSurface([loop]))
    for line in bottom + top:
        geo.mesh.setTransfiniteCurve(line, 4)
    for line in upright:
        geo.mesh.setTransfiniteCurve(line, 3)
    for face in faces:
        geo.mesh.setTransfiniteSurface(face)
        geo.mesh.setRecombine(2, face)
    geo.synchronize()
    gmsh.model.addPhysicalGroup(2, [faces[0]], name="steel")
    gmsh.model.addPhysicalGroup(2, [faces[1]], name="rubber part")
    gmsh.model.addPhysicalGroup(2, [faces[0]], name="heavy")
    gmsh.model.addPhysicalGroup(1, [upright[1]], name="between")
    gmsh.model.addPhysicalGroup(1, [upright[0]], 77)  # no name
    gmsh.model.addPhysicalGroup(1, [upright[2]], name="right")
    gmsh.model.mesh.generate(2)


def ball():
    start(0.6)
    gmsh.model.occ.addSphere(0.1, 0.2, 0.3, 1)
    gmsh.model.occ.synchronize()
    gmsh.model.addPhysicalGroup(3, [1], name="ball")
    gmsh.model.addPhysicalGroup(2, [t for _, t in gmsh.model.getEntities(2)], name="skin")
    gmsh.model.mesh.generate(3)


def bricks():
    """A plate of hexes on another, drawn upwards from quads."""
    start(1)
    geo = gmsh.model.geo
    p = [geo.addPoint(x, y, 0) for x, y in ((0, 0), (2, 0), (2, 1), (0, 1))]
    lines = [geo.addLine(p[k], p[(k + 1) % 4]) for k in range(4)]
    base = geo.addPlaneSurface([geo.addCurveLoop(lines)])
    for k, line in enumerate(lines):
        geo.mesh.setTransfiniteCurve(line, 4 if k % 2 == 0 else 3)
    geo.mesh.setTransfiniteSurface(base)
    geo.mesh.setRecombine(2, base)
    lower = geo.extrude([(2, base)], 0, 0, 0.5, numElements=[2], recombine=True)
    upper = geo.extrude([lower[0]], 0, 0, 0.25, numElements=[1], recombine=True)
    geo.synchronize()
    gmsh.model.addPhysicalGroup(3, [lower[1][1]], name="lower")
    gmsh.model.addPhysicalGroup(3, [upper[1][1]], name="upper")
    gmsh.model.addPhysicalGroup(2, [base], name="bottom")
    gmsh.model.addPhysicalGroup(2, [upper[0][1]], name="top")
    gmsh.model.addPhysicalGroup(1, [lines[0]], name="front edge")
    gmsh.model.addPhysicalGroup(0, [p[0]], name="origin")
    gmsh.model.mesh.generate(3)


def wedge():
    """Prisms: a triangulated square drawn upwards."""
    start(1)
    geo = gmsh.model.geo
    p = [geo.addPoint(x, y, 0) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    lines = [geo.addLine(p[k], p[(k + 1) % 4]) for k in range(4)]
    base = geo.addPlaneSurface([geo.addCurveLoop(lines)])
    geo.extrude([(2, base)], 0, 0, 0.5, numElements=[1], recombine=True)
    geo.synchronize()
    gmsh.model.addPhysicalGroup(3, [1], name="wedges")
    gmsh.model.mesh.generate(3)


def one(name, version=4.1):
    gmsh.option.setNumber("Mesh.SaveParametric", 0)
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", 0)
    gmsh.write(f"{name}.msh")


gmsh.initialize()
gmsh.option.setNumber("General.Verbosity", 2)
plate_with_hole()
write("tri3")
one("tri3-40-ascii", 4.0)
two_quad_regions()
write("quad4")
ball()
write("tet4")
write("tet4-parametric", parametric=True)
bricks()
write("hex8")
plate_with_hole(order=2)
one("tri6-41-ascii")
wedge()
one("prism-41-ascii")
gmsh.finalize()
