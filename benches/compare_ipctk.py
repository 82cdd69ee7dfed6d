#!/usr/bin/env python3
"""Candidates of vertex-face and edge-edge pairs between different bodies: ours beside ipctk's LBVH.

Both see the very same scene: our benchmark writes it, this script reads it and hands it to ipctk.
The runs alternate, so that a busy machine slows both; times are processor time on one thread (best of
all rounds), ratios are what counts.

    python3 -m venv ipc && ipc/bin/pip install ipctk==1.6.1 numpy
    ipc/bin/python benches/compare_ipctk.py pile1000 pile8000 spheres65536

One JSON object per scene. The vertex boxes of ipctk grow by half the reach on both sides of a pair, ours
by the whole reach on one: the pairs asked for are the same.
"""
import json
import subprocess
import sys
import tempfile
import time

import ipctk
import numpy as np

ROUNDS = 3


CAROM = ["cargo", "run", "--release", "--quiet", "--", "bench"]


def read_scene(path):
    """The scene as written by `carom bench search/SCENE --dump FILE`."""
    with open(path, "rb") as f:
        nodes, facets, edges = np.fromfile(f, "<u8", 3)
        reach = np.fromfile(f, "<f8", 1)[0]
        x = np.fromfile(f, "<f8", 3 * nodes).reshape(-1, 3)
        triangles = np.fromfile(f, "<u4", 3 * facets).reshape(-1, 3)
        ends = np.fromfile(f, "<u4", 2 * edges).reshape(-1, 2)
        body = np.fromfile(f, "<u4", nodes)
    return x, triangles.astype(np.int32), ends.astype(np.int32), body.astype(np.int32), float(reach)


def theirs(mesh, x, reach):
    """One broad phase of ipctk, and the exact distances of what it found (processor seconds)."""
    begin = time.process_time()
    candidates = ipctk.Candidates()
    candidates.build(mesh, x, reach / 2, ipctk.LBVH())
    middle = time.process_time()
    collisions = ipctk.NormalCollisions()
    collisions.build(candidates, mesh, x, reach, 0.0)
    return middle - begin, time.process_time() - middle, len(candidates)


def ours(name):
    """Our figures for the scene, by engine."""
    command = [*CAROM, f"search/gather/{name}", "--threads", "1", "--json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [m for m in map(json.loads, lines) if m["bench"] == "search"]
    return {m["case"].split("/")[1]: m for m in found}


def main():
    ipctk.set_logger_level(ipctk.error)
    ipctk.set_num_threads(1)
    for name in sys.argv[1:] or ["pile1000"]:
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([*CAROM, f"search/{name}", "--dump", file.name], check=True)
            x, triangles, edges, body, reach = read_scene(file.name)
        mesh = ipctk.CollisionMesh(np.asfortranarray(x), np.asfortranarray(edges), np.asfortranarray(triangles))
        mesh.can_collide = ipctk.make_vertex_patches_filter(np.ascontiguousarray(body))
        x = np.asfortranarray(x)
        best = dict(lbvh=np.inf, lbvh_distances=np.inf, scratch=np.inf, refit=np.inf, distances=np.inf)
        for _ in range(ROUNDS):
            broad, narrow, count = theirs(mesh, x, reach)
            found = ours(name)
            scratch, refit = found["gather-scratch"], found["gather-refit"]
            new = dict(lbvh=broad, lbvh_distances=narrow, scratch=scratch["value"], refit=refit["value"],
                       distances=found["narrow"]["value"])
            best = {k: min(best[k], new[k]) for k in best}
        print(json.dumps({
            "bench": "search", "case": name, "threads": 1,
            "candidates": scratch["vertex_face_candidates"] + scratch["edge_edge_candidates"],
            "candidates_ipctk": count,
            **{k: float(f"{v:.4g}") for k, v in best.items()},
            "ratio_scratch": round(best["lbvh"] / best["scratch"], 2),
            "ratio_refit": round(best["lbvh"] / best["refit"], 2),
            "ratio_distances": round(best["lbvh_distances"] / best["distances"], 2),
            "distances_over_scratch": round(best["distances"] / best["scratch"], 2),
        }), flush=True)


if __name__ == "__main__":
    main()
