"""What a loop over steps in Python costs, and a load of one's own, beside a run in one call: `python price.py [CELLS]`."""

import sys
import time

import carom

cells = int(sys.argv[1]) if len(sys.argv) > 1 else 47  # 47³ = 103 823 hexahedra
deck = {
    "method": "verlet",
    "end": 1.0,
    "output": {"history": 0, "frames": 0},
    "body": {
        "cube": {
            "mesh": {"shape": "box", "size": [1, 1, 1], "cells": [cells] * 3},
            "material": {"law": "st-venant-kirchhoff", "young": 1e6, "poisson": 0.3, "density": 1000},
            "velocity": [1, 0, 0],
        }
    },
}
STEPS, ROUNDS = 10, 25


def timed(sim, work):
    begin = time.process_time(), time.perf_counter()
    work(sim)
    return time.process_time() - begin[0], time.perf_counter() - begin[1]


def loop(sim):
    for _ in range(STEPS):
        sim.step()


plain, loaded = carom.load(deck, threads=1), carom.load(deck, threads=1, loads=lambda t, x: None)
for sim in (plain, loaded):
    sim.step()
    sim.step()
dt = plain.summary["dt"]["mean"]
whole = lambda sim: sim.advance(sim.time + (STEPS - 0.5) * dt)  # noqa: E731
# in turns, and the least of each: the machine may be busy with other things
rounds = [(timed(plain, whole), timed(plain, loop), timed(loaded, loop)) for _ in range(ROUNDS)]
for name, k in (("CPU", 0), ("wall", 1)):
    one, steps, load = (min(r[i][k] for r in rounds) / STEPS * 1e3 for i in range(3))
    print(f"{cells**3} elements, {name}: {one:.2f} ms a step in one call, {steps:.2f} step by step ({100 * (steps / one - 1):+.1f} %), {load:.2f} with a load ({100 * (load / one - 1):+.1f} %)")
