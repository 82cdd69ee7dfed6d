//! What the papers show and cannot be reproduced: paper, figure or number, and why.

pub(super) const GAPS: [(&str, &str, &str); 13] = [
    (
        "Cirak & West 2005",
        "five cubes and 76 cubes: curves of the energies",
        "the thickness of the shells and the places of the cubes are not given; ours (0.2, and gaps of 0.05) fit the scale of the axis, so shares of the energy are compared and not joules",
    ),
    (
        "Cirak & West 2005",
        "sphere and plate: radii as printed",
        "as printed the plate would be smaller than the sphere, and the waves that the text describes could not be reflected at its edge: they are taken the other way round",
    ),
    (
        "Cirak & West 2005",
        "sphere and sphere, sphere and plate: wall times",
        "of a machine and a program of 2005; they are not compared",
    ),
    (
        "Kane, Ortiz & Marsden",
        "particles that shatter",
        "the meshes are not given and the text has no numbers: `fragments` is a case of its own, with its own checks",
    ),
    (
        "Kane, Ortiz & Marsden",
        "Truesdell's wedge, a statement about where the particle goes",
        "there is no answer by symmetry alone; what is compared is what the scheme conserves, and the limit of a rounded tip",
    ),
    (
        "Love & Laursen 2003",
        "friction blocks: tumbling begins in (0.6, 0.7]",
        "the penalties of the stick and slip runs are not all given; the first step that sticks is found at 0.4 to 0.8 with ours",
    ),
    (
        "Love & Laursen 2003",
        "golf ball: deformation and spin over time",
        "geometry, mesh and material of ball and club are those of another report; ours is a ball of the same kind, and the loss (about 1.2 %) and that spin needs friction are compared",
    ),
    (
        "Love & Laursen 2003",
        "rings: figures of the configurations",
        "compared by eye only: the text has no numbers of them",
    ),
    (
        "Peng, Feng & Joli 2018",
        "tables 1 to 3: seconds",
        "of a machine of 2018; ratios and counts are compared, and how they grow",
    ),
    (
        "Peng, Feng & Joli 2018",
        "cylinders and cubes: places of all bodies",
        "the geometry is drawn and not given in full; ours follows the drawings, so curves are compared in shape and energies in size",
    ),
    (
        "Wolff & Bucher 2013",
        "two bars: the steps that are printed (0.476e-3, 2.469e-3, 0.957e-3)",
        "how a critical step is defined is not said; ours are three times as long on the same mesh, and the run that is compared takes shares of its own",
    ),
    (
        "Wolff & Bucher 2013",
        "two bars: CPU time",
        "of a machine of 2013; how it grows with the mesh is compared",
    ),
    (
        "Wolff & Bucher 2013",
        "soft block and block assembly: states late in the run",
        "they roll and collide chaotically: small differences of order or step grow; energies, momenta and early states are compared",
    ),
];
