"""Makes bracket.inp: an angle bracket with four holes and a fillet, in quadratic tetrahedra, in millimetres.

    pip install gmsh && python make.py
"""

import gmsh

WIDTH, LEG, PLATE, FILLET, HOLE = 40.0, 60.0, 6.0, 8.0, 4.0
BASE_HOLES, WALL_HOLES = [(42.0, 10.0), (42.0, 30.0)], [(10.0, 44.0), (30.0, 44.0)]

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
occ = gmsh.model.occ
base = occ.addBox(0, 0, 0, LEG, WIDTH, PLATE)
wall = occ.addBox(0, 0, 0, PLATE, WIDTH, LEG)
# the fillet: a square rod in the corner without the cylinder that touches both plates
rod = occ.addBox(PLATE, 0, PLATE, FILLET, WIDTH, FILLET)
round_ = occ.addCylinder(PLATE + FILLET, 0, PLATE + FILLET, 0, WIDTH, 0, FILLET)
fillet, _ = occ.cut([(3, rod)], [(3, round_)])
body, _ = occ.fuse([(3, base)], [(3, wall)] + fillet)
bores = [(3, occ.addCylinder(x, y, -1, 0, 0, PLATE + 2, HOLE)) for x, y in BASE_HOLES]
bores += [(3, occ.addCylinder(-1, y, z, PLATE + 2, 0, 0, HOLE)) for y, z in WALL_HOLES]
body, _ = occ.cut(body, bores)
occ.synchronize()

faces = [tag for _, tag in gmsh.model.getEntities(2)]


def near(tag, point):
    return sum((a - b) ** 2 for a, b in zip(occ.getCenterOfMass(2, tag), point)) < 1e-6


bore_faces = [t for t in faces if any(near(t, (x, y, PLATE / 2)) for x, y in BASE_HOLES)]
bore_faces += [t for t in faces if any(near(t, (PLATE / 2, y, z)) for y, z in WALL_HOLES)]
foot = [t for t in faces if gmsh.model.getBoundingBox(2, t)[5] < 1e-6]
gmsh.model.addPhysicalGroup(3, [tag for _, tag in body], name="bracket")
gmsh.model.addPhysicalGroup(2, bore_faces, name="bores")
gmsh.model.addPhysicalGroup(2, foot, name="foot")

gmsh.option.setNumber("Mesh.MeshSizeMax", 6.5)
gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 9)
# the parallel algorithm, optimised: flat tets make short steps
gmsh.option.setNumber("Mesh.Algorithm3D", 10)
gmsh.model.mesh.generate(3)
for _ in range(4):
    gmsh.model.mesh.optimize("", force=True)
gmsh.model.mesh.setOrder(2)
gmsh.model.mesh.optimize("HighOrderElastic")
gmsh.option.setNumber("Mesh.SaveGroupsOfNodes", 1)
gmsh.option.setNumber("Mesh.SaveGroupsOfElements", 1)
gmsh.write("bracket.inp")
print(len(gmsh.model.mesh.getElementsByType(11)[0]), "tet10,", len(bore_faces), "bores,", len(foot), "foot")
gmsh.finalize()
