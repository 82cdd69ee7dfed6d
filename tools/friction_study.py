#!/usr/bin/env python3
"""How much friction takes, over mesh, step and friction coefficient: the figures of guide/friction.md.

    tools/friction_study.py CAROM [--before CAROM] [--again METHOD] [--out guide/friction]

Runs decks of tests/trust with other meshes, steps and coefficients, writes `study.csv` and one SVG for each row of figures.
`--before` draws another program beside it, dashed. `--again` measures one method anew and takes all else from `study.csv`. Needs nothing but Python.
"""
import argparse, csv, math, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
METHODS = ["dcr", "asynchronous", "semi-explicit", "bipotential-implicit"]
INKS = {"dcr": "#3b7dd8", "asynchronous": "#d9822b", "semi-explicit": "#2f9e6e", "bipotential-implicit": "#9b59b6",
        "velocity-update": "#c0392b"}


def friction(h):
    """What friction took, of the energy at the start."""
    return h["friction"][-1] / h["total"][0]


def way(h):
    return h["b.ux"][-1]


def creep(h):
    """Drift along the slope after t = 1.5, in edges a second, from means over a fifth of that time."""
    t, u = h["time"], h["b.ux"]
    i = next(i for i, x in enumerate(t) if x >= 1.5)
    fifth = max(1, (len(t) - i) // 5)
    mean = lambda x: sum(x) / len(x)
    return abs(mean(u[-fifth:]) - mean(u[i:i + fifth])) / (mean(t[-fifth:]) - mean(t[i:i + fifth]))


def stops(along, x):
    """Way in 3 s at speed 1 and gravity 1: v²/(2μ) if it stops by then."""
    m = x if along == MU else 0.5
    return 0.5 / m if 1 / m <= 3 else 3 - 4.5 * m


def plane_cells(text, n):
    """Cells an edge of length one."""
    def cells(m):
        size = [float(x) for x in m.group(1).split(",")]
        return f"size = [{m.group(1)}], cells = [{', '.join(str(round(n * s)) for s in size)}]"
    return re.sub(r"size = \[([^\]]*)\], cells = \[[^\]]*\]", cells, text)


def block_cells(text, n):
    """Of the block alone."""
    return text.replace("cells = [4, 4, 2]", f"cells = [{n}, {n}, {max(1, n // 2)}]")


def mu(text, value):
    return re.sub(r"^friction = .*$", f"friction = {value}", text, flags=re.M)


def safety(text, value):
    return text + f"\n[step]\nsafety = {value}\n"


def tangential(switches):
    """The tangential penalty of velocity-update, with other switches of it."""
    return lambda text, value: text + f"\n[velocity-update]\ntangential_penalty = {value}\n{switches}\n"


# What leaves the scale is drawn at its top.
CAPS = {"oblique": 0.36}
MESH, STEP, MU = "cells an edge", "share of the stable step", "friction coefficient"
PAPER, ALONE, AUGMENTED = ("tangential penalty [Pa s/m], " + t for t in ("as published", "split", "split and augmented"))
PENALTIES = [0.3, 1, 3, 10, 30, 100, 300]
# name, deck, [(along, change, values, methods)], figure and its heading, what it should be, where that holds
ROWS = [
    ("off-centre", "stick-normal-2d", [(MESH, plane_cells, [4, 8, 16, 32], METHODS),
                                        (STEP, safety, [0.6, 0.4, 0.2, 0.1], METHODS[:3]),
                                        (MU, mu, [0.05, 0.1, 0.2, 0.3, 0.5, 0.8], METHODS[:3])],
     friction, "friction / E₀", 0.0052, {MESH: 16, MU: 0.3}),
    ("oblique", "stick-base-2d", [(MESH, plane_cells, [4, 8, 16, 32], METHODS),
                                   (STEP, safety, [0.6, 0.4, 0.2, 0.1], METHODS[:3]),
                                   (MU, mu, [0.1, 0.2, 0.4, 0.8, 1.2], METHODS[:3])],
     friction, "friction / E₀", 0.1058, {MESH: 16, MU: 0.8}),
    ("sliding", "stop-plate", [(MESH, block_cells, [2, 4, 6, 8], METHODS[:3]),
                                (STEP, safety, [0.6, 0.4, 0.2], METHODS[:3]),
                                (MU, mu, [0.3, 0.4, 0.5, 0.8], METHODS[:3])],
     way, "way", stops, {}),
    ("incline", "hold-plane", [(MESH, block_cells, [2, 4, 6, 8], METHODS[:3]),
                                (STEP, safety, [0.6, 0.4, 0.2], METHODS[:3]),
                                (MU, mu, [0.48, 0.5, 0.8], METHODS[:3])],
     creep, "creep, edges / s", lambda along, x: 0.0, {}),
    ("penalty", "slip-oblique-2d", [(PAPER, tangential('update = "paper"\naugmentation = 0'), PENALTIES, ["velocity-update"]),
                                     (ALONE, tangential("augmentation = 0"), PENALTIES, ["velocity-update"]),
                                     (AUGMENTED, tangential(""), PENALTIES, ["velocity-update"])],
     friction, "friction / E₀", 0.1226, {PAPER: 300, ALONE: 300, AUGMENTED: 300}),
]


def measure(carom, text, method, figure, where):
    deck = os.path.join(where, "deck.toml")
    with open(deck, "w", encoding="utf-8") as f:
        f.write(text)
    out = os.path.join(where, "out")
    command = [carom, "run", deck, "--method", method, "--threads", "1", "--out", out, "--overwrite", "--quiet"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return math.nan
    if done.returncode != 0:
        print(" ", " ".join(done.stdout.split())[:120], file=sys.stderr)
        return math.nan
    with open(os.path.join(out, "history.csv"), encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    return figure({c: [float(r[c]) if r[c] else math.nan for r in rows] for c in rows[0]})


class Panel:
    """One figure: values over what was changed, evenly spaced."""
    W, H, LEFT, TOP = 300, 190, 54, 34

    def __init__(self, left, heading, along, xs, curves, known, cap=math.inf):
        self.left, self.xs, self.known = left, xs, known
        values = [y for c in curves for y in c[2] if math.isfinite(y)] + [k for k in known if k is not None]
        top = min(max(values + [1e-9]), cap)
        power = 10 ** math.floor(math.log10(top))
        self.top = next(m * power for m in (1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if m * power >= top)
        self.svg = [f'<text x="{left + self.LEFT}" y="16" class="h">{heading}</text>',
                    f'<text x="{left + self.LEFT + self.W / 2}" y="{self.TOP + self.H + 34}" class="m">{along}</text>']
        for k in range(5):
            y = self.top * k / 4
            self.svg.append(f'<path d="M{self.x(-0.3):.1f} {self.y(y):.1f}H{self.x(len(xs) - 0.7):.1f}" class="g"/>'
                            f'<text x="{left + self.LEFT - 6}" y="{self.y(y) + 4:.1f}" class="e">{y:.3g}</text>')
        for k, x in enumerate(xs):
            self.svg.append(f'<text x="{self.x(k):.1f}" y="{self.TOP + self.H + 16}" class="m">{x:g}</text>')
        for ink, dashed, ys in curves:
            points = [(self.x(k), self.y(y)) for k, y in enumerate(ys) if math.isfinite(y)]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            dash = ' stroke-dasharray="5 4" opacity="0.7"' if dashed else ""
            self.svg.append(f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="1.8"{dash}/>')
            self.svg += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{ink}"/>' for x, y in points if not dashed]
        for k, y in enumerate(known):
            if y is not None:
                self.svg.append(f'<circle cx="{self.x(k):.1f}" cy="{self.y(y):.1f}" r="6.5" class="k"/>')

    def x(self, k):
        n = len(self.xs)
        return self.left + self.LEFT + self.W * (k + 0.4) / (n - 0.2)

    def y(self, y):
        return self.TOP + self.H * (1 - min(y, self.top) / self.top)


STYLE = """<style>text{font:11px sans-serif;fill:#777}.h{font-weight:bold}.m{text-anchor:middle}.e{text-anchor:end}
.g{stroke:#999;stroke-opacity:.25;fill:none}.k{stroke:#888;stroke-width:1.6;fill:none}</style>"""


def draw(path, panels, legend):
    width = len(panels) * (Panel.W + Panel.LEFT + 16)
    height = Panel.TOP + Panel.H + 68
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">', STYLE]
    for p in panels:
        svg += p.svg
    x = Panel.LEFT
    for ink, dashed, name in legend:
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        svg.append(f'<path d="M{x} {height - 12}h22" stroke="{ink}" stroke-width="2"{dash}/>'
                   f'<text x="{x + 27}" y="{height - 8}">{name}</text>')
        x += 40 + 6.4 * len(name)
    svg.append(f'<circle cx="{x + 8}" cy="{height - 12}" r="6.5" class="k"/><text x="{x + 20}" y="{height - 8}">should be</text></svg>')
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(svg) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("carom")
    p.add_argument("--before", help="a program to draw beside it")
    p.add_argument("--again", help="the only method that is measured; all else is taken from study.csv")
    p.add_argument("--out", default=os.path.join(ROOT, "guide", "friction"))
    p.add_argument("--only", default="", help="rows whose name contains this")
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    programs = ([("before", os.path.abspath(a.before))] if a.before else []) + [("after", os.path.abspath(a.carom))]
    lines, kept = [], {}
    if a.again:
        with open(os.path.join(a.out, "study.csv"), encoding="utf-8") as f:
            kept = {tuple(row[:6]): float(row[6]) for row in list(csv.reader(f))[1:] if row[4] != a.again or row[5] == "before"}
        programs = [("before", None), ("after", os.path.abspath(a.carom))]
    with tempfile.TemporaryDirectory() as where:
        for name, deck, sweeps, figure, heading, should, at in ROWS:
            if a.only not in name:
                continue
            with open(os.path.join(ROOT, "tests", "trust", deck + ".toml"), encoding="utf-8") as f:
                text = f.read()
            panels, used = [], []
            for along, change, values, methods in sweeps:
                curves = []
                for when, program in programs:
                    for method in methods:
                        keys = [(name, deck, along, str(v), method, when) for v in values]
                        if program is None and keys[0] not in kept:
                            continue
                        ys = [kept[k] if k in kept else measure(program, change(text, v), method, figure, where) for k, v in zip(keys, values)]
                        lines += [[name, deck, along, v, method, when, f"{y:.4g}"] for v, y in zip(values, ys)]
                        print(name, along, when, method, *(f"{y:.3g}" for y in ys), flush=True)
                        curves.append((INKS[method], when == "before", ys))
                        used += [method] if method not in used else []
                known = [should(along, v) if callable(should) else (should if at.get(along) == v else None) for v in values]
                left = len(panels) * (Panel.W + Panel.LEFT + 16)
                panels.append(Panel(left, heading, along, values, curves, known, CAPS.get(name, math.inf)))
            legend = [(INKS[m], False, m) for m in used] + ([("#888", True, "before")] if any(c[1] for c in curves) else [])
            draw(os.path.join(a.out, name + ".svg"), panels, legend)
    if not a.only:
        with open(os.path.join(a.out, "study.csv"), "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(["scene", "deck", "along", "value", "method", "program", "figure"])
            out.writerows(lines)


if __name__ == "__main__":
    main()
