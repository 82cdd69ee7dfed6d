//! Decks that say everything there is to say.

/// Every table and every key that a deck can have, over several decks because some exclude each other.
pub(super) const EVERYTHING: [&str; 10] = [
    r#"
title = "all"
method = "verlet"
end = 1
step = { size = 1e-9 }
output = { history = 1, frames = 2, integration_points = true, mises_peak = true, checkpoint = 3 }
contact = { only = [] }
[material]
a = { law = "linear", young = 1, poisson = 0.3, density = 1 }
b = { law = "mooney-rivlin", c1 = 1, c2 = 1, bulk = 9, density = 1 }
c = { law = "ogden", mu = [1], alpha = [2], bulk = 9, density = 1 }
d = { law = "blatz-ko", shear = 1, density = 1 }
e = { law = "neo-hookean", young = 1, poisson = 0.3, density = 1 }
[body.bar]
mesh = { shape = "bar", length = 1, cells = 2, grading = { slope = 0.5, fine = "max" }, at = [0, 1, 0] }
area = 2
material = "a"
[body.rectangle]
mesh = { shape = "rectangle", size = [1, 1], cells = [2, 2], cell = "tri3", grading = [1, 2] }
plane = "stress"
thickness = 0.5
material = "b"
[body.box]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], cell = "hex8", rotate = { axis = [0, 0, 1], angle = 30, about = "at" } }
material = "c"
integration = "one-point"
hourglass = 0.2
velocity = [1, 0, 0]
spin = [0, 0, 1]
spin_about = [0, 0, 0]
gravity = [0, 0, 1]
gravity_table = [[0, 1], [1, 2]]
damping = 0.1
fix = ["xmin"]
support = [{ set = "xmax", directions = ["x", [1, 1, 0]], displacement = [1, 0, 0], table = [[0, 0], [1, 1]] },
           { set = "ymax", velocity = [0, 1, 0] }]
[body.ring]
mesh = { shape = "ring", inner = 1, outer = 2, around = 8, radial = 1, cell = "quad4", grading = 1.5, rotate = { axis = [0, 0, 1], angle = 5 } }
material = "d"
[body.disc]
mesh = { shape = "disc", radius = 1, core_cells = 1, layers = 1, core = 0.5 }
material = "e"
[body.cylinder]
mesh = { shape = "cylinder", radius = 1, height = 1, core_cells = 1, layers = 1, axial_cells = 1, grading = 1, cell = "tet4" }
material = "a"
[body.sphere]
mesh = { shape = "sphere", radius = 1, core_cells = 1, layers = 1 }
material = { law = "st-venant-kirchhoff", young = 1, poisson = 0, density = 1 }
[body.hollow-sphere]
mesh = { shape = "hollow-sphere", radius = 1, base = "bipyramid", refinements = 1 }
element = "shell"
thickness = 0.01
refine = 1
fit = true
points = "three"
contact = false
material = "a"
[body.hollow-box]
mesh = { shape = "hollow-box", size = [1, 1, 1], cells = [2, 2, 2] }
element = "shell"
contact = false
sides = "both"
contact_thickness = 0.001
thickness = 0.01
material = "a"
[body.round-sheet]
mesh = { shape = "round-sheet", radius = 1, rings = 2 }
element = "shell"
thickness = 0.01
contact = false
fix = "rim"
material = "a"
[body.tube]
mesh = { shape = "tube", radius = 1, length = 1, around = 8, along = 4 }
element = "shell"
thickness = 0.01
contact = false
fix = ["zmin"]
material = "a"
[[load]]
body = "box"
set = "ymin"
traction = [1, 0, 0]
table = [[0, 1]]
[probe.node]
body = "box"
node = 7
[probe.held]
body = "box"
reaction = "xmin"
"#,
    r#"
method = "verlet"
end = 1
step = { safety = 0.5 }
verlet = { supports = "rattle" }
[body.file]
mesh = { file = "hex8-41-ascii.msh", at = [0, 0, 0], rotate = { axis = [0, 0, 1], angle = 30, about = [1, 1, 1] } }
material = { law = "linear", young = 1, poisson = 0.3, density = 1 }
"#,
    r#"
method = "dcr"
end = 1
[dcr]
variant = "full-step"
edge_edge = false
projection = "one-sided"
sweeps = 3
swept = true
energy_correction = true
angular_momentum_correction = true
[contact]
friction = 0.3
restitution = 0.5
guard = true
off = ["ghost"]
self = ["a"]
only = [["a", "b"], ["a", "wall"], ["b", "wall"], ["a", "stone"]]
[[contact.between]]
bodies = ["a", "b"]
friction = 0.1
restitution = 0
[[contact.between]]
bodies = ["b", "stone"]
off = true
[material.soft]
law = "linear"
young = 1
poisson = 0
density = 1
[body.a]
mesh = { shape = "box", size = [1, 1, 1], cells = [2, 2, 2] }
material = "soft"
contact = ["xmax", "zmin"]
[body.wall]
plane = { point = [0, 0, -1], normal = [0, 0, 2] }
displacement = [0, 0, 0.1]
table = [[0, 0], [1, 1]]
[body.b]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], at = [2, 0, 0] }
material = "soft"
[body.ghost]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], at = [0.5, 0, 0] }
material = "soft"
contact = false
[body.row]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], at = [0, 9, 0] }
material = "soft"
array = { count = [2, 1, 1], spacing = [3, 3, 3], tumble = 7 }
[body.stone]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], at = [0, 0, 5] }
velocity = [0, 0, -1]
spin = [0, 0, 1]
centre = [0, 0, 5]
[probe.push]
between = ["a", "b"]
[probe.all]
contact = "wall"
"#,
    r#"
method = "dcr"
end = 1
[body.disc]
mesh = { shape = "disc", radius = 1, core_cells = 2, layers = 1 }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
contact = "outer"
[body.bowl]
polyline = { points = [[2, 2], [2, -2], [-2, -2], [-2, 2]], closed = false }
[body.post]
mesh = { shape = "rectangle", size = [1, 1], cells = [1, 1], at = [5, 0, 0] }
spin = [0, 0, 3]
"#,
    r#"
method = "asynchronous"
end = 1
[asynchronous]
mode = "paper"
steps = "classes"
phase = "centred"
contact_velocity = "synchronised"
edge_edge = true
contact_step = { local = 2, travel = 0.25 }
[body.hexes]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1] }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
integration = "nodal"
[body.tets]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], cell = "tet4", at = [2, 0, 0] }
material = { law = "neo-hookean", young = 1, poisson = 0.49, density = 1 }
integration = "nodal"
"#,
    r#"
method = "nonsmooth"
end = 1
[nonsmooth]
beta = 0
gamma = 0.5
hessian = "kept"
friction_gradient = "full"
penalty = 1e5
tolerance = 1e-10
ties = "last"
[body.drawn]
mesh = { nodes = [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]], cells = [[0, 1, 2, 3], [1, 4, 2]], sides = { low = [[1, 0], [1, 4]] }, sets = { tip = [4] }, at = [0, 5, 0] }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
fix = ["low", "tip"]
[body.polygon]
mesh = { shape = "polygon", points = [[0, 0], [1, 0], [0, 1]], refine = 1, at = [0, 3, 0] }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
[body.plate]
mesh = { shape = "rectangle", size = [1, 1], cells = [1, 1], rotate = { axis = [0, 0, 1], angle = 30 } }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
shatter = { pieces = 5, seed = 3, gap = 0.01, burst = 2, refine = 1 }
spin = [0, 0, 1]
"#,
    r#"
method = "nonsmooth"
end = 1
[body.polyhedron]
mesh = { shape = "polyhedron", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], refine = 1 }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
shatter = { pieces = 3 }
velocity = [1, 0, 0]
"#,
    r#"
method = "nonsmooth"
end = 1
[nonsmooth]
contact_gradient = "midpoint"
friction = "projected"
detections = 20
halvings = 3
[contact]
friction = 0.3
[body.a]
mesh = { shape = "rectangle", size = [1, 1], cells = [1, 1] }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
[body.wedge]
polyline = { points = [[0, -1], [-1, -3], [1, -3]], closed = true }
"#,
    r#"
method = "semi-explicit"
end = 1
[semi-explicit]
activation = "rate"
local = "uzawa"
pass = "double"
edge_edge = false
baumgarte = 0.1
tolerance = 1e-5
sweeps = 100
[body.a]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1] }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
[[load]]
body = "a"
set = "xmax"
force = [1, 0, 0]
[[load]]
body = "a"
body_force = [1, 0, 0]
[[load]]
body = "a"
set = "xmax"
pressure = 2
[probe.set]
body = "a"
nodes = "xmin"
"#,
    r#"
method = "bipotential-implicit"
end = 1
[bipotential-implicit]
theta = 1
xi = 1
pass = "double"
edge_edge = false
tolerance = 1e-5
sweeps = 100
iterations = 5
halvings = 2
[asynchronous]
contact_step = { average = 2, travel = 0.25 }
[body.a]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], grading = [1, 2, { slope = 0.5 }] }
material = { law = "linear", young = 1, poisson = 0, density = 1 }
[body.b]
mesh = { file = "hex8-41-ascii.msh", at = [5, 5, 5] }
materials = { lower = { law = "blatz-ko", shear = 1, density = 1 } }
material = "m"
[material.m]
law = "ogden"
mu = [1, 2]
alpha = [1, 2]
bulk = 9
density = 1
"#,
];
