#!/usr/bin/env python3
"""Runs the same decks with two programs and compares what they leave, bit by bit.

    compare_bits.py REFERENCE NEW [--only TEXT] [--decks FOLDER] [--threads N] [--jobs N] [--timeout SECONDS]

The decks are all examples (cut short by `end` where they are long), scenes of this file with every method that can, and those of
FOLDER. Compared are the exit status, `history.csv` (it holds no wall times) and the last frame: positions, velocities,
contact forces and stresses of every node. Where a run differs, the first row and column that do are named, and how far they
are apart. Exit status 0 only if nothing differs.
"""
import argparse, concurrent.futures, csv, os, pathlib, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Where an example takes long, the end of its run here [s]; contact is under way by then.
ENDS = {
    "76-solid-cubes": 0.012, "76-cubes": 0.006, "block-assembly": 1.0, "block-stack": 0.12, "cube-pile": 0.12, "cubes-25": 0.004,
    "cubes-scaling": 0.002, "five-solid-cubes": 0.03, "five-cubes": 0.01, "sphere-sphere": 0.002, "sphere-plate": 2e-4, "rolling-block": 1.0, "sliding-block": 0.6, "ten-cylinders": 0.02,
    "pressurised-ring": 2e-4, "spinning-block": 0.01, "two-hex-bars": 30.0,
}

SOFT = """
[material.soft]
law = "neo-hookean"
young = 2.1e5
poisson = 0.3
density = 0.7424
"""
OUTPUT = """
[output]
history = 40
frames = 1
"""

# Cubes that meet in the air over a plate that rises and a wheel that turns.
CUBES = SOFT + """
end = 0.06
[body.a]
mesh = { shape = "box", size = [1, 1, 1], cells = [2, 2, 4], cell = "tet4", at = [-1.75, 0.3, 0.2] }
material = "soft"
velocity = [30, -10, -30]
gravity = [0, 0, -200]
[body.b]
mesh = { shape = "box", size = [1, 1, 1], cells = [3, 3, 3], at = [-0.5, 0, -1.0] }
material = "soft"
velocity = [-30, 10, 0]
gravity = [0, 0, -200]
[body.c]
mesh = { shape = "box", size = [1, 1, 1], cells = [3, 3, 3], at = [-0.5, 0, 0.1] }
material = "soft"
velocity = [-40, 10, 0]
gravity = [0, 0, -200]
[body.plate]
plane = { point = [0, 0, -1.2], normal = [0.1, 0, 1] }
displacement = [0, 0, 0.2]
table = [[0, 0], [0.05, 1]]
[body.wheel]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], at = [-3.2, -0.2, -1] }
spin = [0, 40, 0]
[contact]
friction = 0.3
[[contact.between]]
bodies = ["a", "plate"]
restitution = 0.5
[probe.a]
contact = "a"
[probe.weight]
between = ["plate", "b"]
"""

# Plane bodies: one falls on another that is held, beside a polyline.
PLANE = SOFT + """
end = 0.08
[body.table]
mesh = { shape = "rectangle", size = [3, 0.5], cells = [7, 2] }
material = "soft"
fix = "ymin"
[body.block]
mesh = { shape = "rectangle", size = [1, 1], cells = [4, 4], at = [0.3, 0.6, 0], rotate = { axis = [0, 0, 1], angle = 10 } }
material = "soft"
velocity = [20, -20, 0]
gravity = [0, -100, 0]
[body.step]
polyline = { points = [[5, 2], [2.2, 2], [2.2, 0.55]] }
[contact]
friction = 0.4
[probe.force]
between = ["block", "table"]
"""

# Cubes meet off their centres, nearly edge to edge, one of them held at its back.
CORNERS = SOFT + """
end = 0.04
[body.p]
mesh = { shape = "box", size = [1, 1, 1], cells = [3, 2, 2] }
material = "soft"
fix = "xmin"
[body.q]
mesh = { shape = "box", size = [1, 1, 1], cells = [2, 3, 2], at = [1.5, 0.6, 0.7], rotate = { axis = [1, 1, 0], angle = 20 } }
material = "soft"
velocity = [-40, -5, -12]
[contact]
friction = 0.2
"""

# A ring that folds: a body that touches itself.
STRIP = SOFT + """
end = 0.02
[body.strip]
mesh = { shape = "ring", inner = 0.8, outer = 1.0, around = 32, radial = 2 }
material = "soft"
velocity = [0, -60, 0]
[body.floor]
plane = { point = [0, -1.02, 0], normal = [0, 1, 0] }
[contact]
self = ["strip"]
friction = 0.3
"""

BARS = """
end = 30.0
[material.unit]
law = "linear"
young = 1
poisson = 0
density = 1
[body.left]
mesh = { shape = "bar", length = 10, cells = 20, at = [-10, 0, 0] }
material = "unit"
velocity = [0.1, 0, 0]
[body.right]
mesh = { shape = "bar", length = 10, cells = 31 }
material = "unit"
velocity = [-0.1, 0, 0]
"""

METHODS = ["dcr", "asynchronous", "verlet", "semi-explicit", "bipotential-implicit"]
SCENES = {"cubes": CUBES, "plane": PLANE, "corners": CORNERS, "strip": STRIP, "bars": BARS}
# Switches of methods that change which lines run.
SWITCHES = [
    ("dcr", "cubes", ["dcr.variant=\"full-step\""]), ("dcr", "cubes", ["contact.guard=true", "end=0.02"]),
    ("dcr", "cubes", ["dcr.swept=true"]), ("dcr", "corners", ["dcr.swept=true"]), ("dcr", "plane", ["dcr.swept=true"]),
    ("dcr", "corners", ["contact.guard=true"]), ("dcr", "cubes", ["dcr.angular_momentum_correction=true", "dcr.energy_correction=true"]),
    ("dcr", "cubes", ["dcr.variant=\"full-step\"", "dcr.energy_correction=true"]), ("dcr", "cubes", ["dcr.edge_edge=false"]),
    ("semi-explicit", "cubes", ["semi-explicit.activation=\"rate\""]),
    ("semi-explicit", "cubes", ["semi-explicit.activation=\"project\""]),
    ("semi-explicit", "corners", ["semi-explicit.pass=\"double\""]),
    ("asynchronous", "cubes", ["asynchronous.steps=\"free\""]),
    ("nonsmooth", "cubes", ["end=0.03"]), ("nonsmooth", "plane", []), ("nonsmooth", "corners", []), ("nonsmooth", "bars", []),
    ("nonsmooth", "plane", ["nonsmooth.beta=0.25", "end=0.02"]),
    ("velocity-update", "plane", ["end=0.03"]), ("velocity-update", "corners", ["end=0.01"]), ("velocity-update", "bars", []),
    ("newmark-penalty", "plane", ["end=0.03"]), ("newmark-penalty", "bars", []),
]


def runs(folder):
    """All runs, as (name, deck's text or path, arguments)."""
    out = []
    for example in sorted((ROOT / "examples").iterdir()):
        if (example / "deck.toml").exists():
            end = ENDS.get(example.name)
            out.append((example.name, example / "deck.toml", ["--set", f"end={end}"] if end else []))
    for scene, text in SCENES.items():
        for method in METHODS:
            out.append((f"{scene}/{method}", text, ["--method", method]))
    for method, scene, switches in SWITCHES:
        name = f"{scene}/{method} " + " ".join(switches)
        out.append((name, SCENES[scene], ["--method", method] + [a for s in switches for a in ("--set", s)]))
    for deck in sorted(pathlib.Path(folder).glob("*.toml")) if folder else []:
        out.append((deck.name, deck, []))
    return out


def run(program, deck, arguments, where, options):
    """Exit status and what is compared of the folder."""
    out = where / "out"
    if isinstance(deck, str):
        # keys of the whole deck stand first
        lines = deck.splitlines()
        ends = [line for line in lines if line.startswith("end")]
        rest = [line for line in lines if not line.startswith("end")]
        path = where / "deck.toml"
        path.write_text("\n".join(['method = "dcr"'] + ends + rest) + OUTPUT)
        deck = path
    command = [program, "run", str(deck), "--out", str(out), "--quiet", "--threads", str(options.threads)] + arguments
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return "timeout", [], None, ""
    history = out / "history.csv"
    rows = list(csv.reader(history.open())) if history.exists() else []
    frames = sorted((out / "frames").glob("*.vtu")) if (out / "frames").exists() else []
    return done.returncode, rows, frames[-1].read_bytes() if frames else None, done.stderr.strip()


def difference(reference, new):
    """In words, or nothing."""
    if reference[0] != new[0]:
        return f"exit status {reference[0]} and {new[0]}: {new[3][:300]}"
    (_, p, frame, _), (_, q, other, _) = reference, new
    if len(p) != len(q) or p[:1] != q[:1]:
        return f"{len(p)} and {len(q)} rows of history, or other columns"
    for row, (a, b) in enumerate(zip(p, q)):
        for name, x, y in zip(p[0], a, b):
            if x != y:
                return f"row {row} of history, {name}: {x} and {y}"
    return None if frame == other else "the last frame"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("reference")
    arguments.add_argument("new")
    arguments.add_argument("--only", default="", help="runs whose name contains this")
    arguments.add_argument("--decks", help="a folder of further decks")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--timeout", type=float, default=300)
    options = arguments.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="compare-bits-"))

    def both(job):
        i, (name, deck, more) = job
        found = []
        for k, program in enumerate([options.reference, options.new]):
            where = scratch / f"{i}-{k}"
            where.mkdir()
            found.append(run(os.path.abspath(program), deck, more, where, options))
        return name, difference(*found), found[0]

    chosen = [r for r in runs(options.decks) if options.only in r[0]]
    differ = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, text, (status, rows, _, error) in pool.map(both, enumerate(chosen)):
            differ += text is not None
            state = "same" if text is None else "DIFFERS in " + text
            note = "" if status == 0 else f" (exit status {status}: {error.splitlines()[0] if error else ''})"
            print(f"{name:60} {state}{note}", flush=True)
    shutil.rmtree(scratch)
    print(f"{len(chosen)} runs, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
