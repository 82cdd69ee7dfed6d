#!/usr/bin/env python3
"""What must never lose anything, tried on the program: runs that are killed and taken up again, races for one folder, damaged folders.

    tools/abuse.py target/release/carom [--chains 200] [--races 50] [--damages 135] [--seed 1] [--only chains]

After every chain the folder is that of an undisturbed run, byte for byte. Of two that start at once one runs and the other is refused.
A damaged folder is mended, or refused with the name of what is damaged and nothing changed. Exit status 0 only if all of it holds.
"""
import argparse, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, time, tomllib, zlib
from processor import processor

METHODS = ["dcr", "asynchronous", "verlet", "semi-explicit", "nonsmooth", "bipotential-implicit", "velocity-update",
           "newmark-penalty", "static"]
# Long enough for a few kills each.
END = {"dcr": 0.15, "asynchronous": 0.1, "verlet": 0.1, "semi-explicit": 0.15, "nonsmooth": 0.1, "bipotential-implicit": 0.05,
       "velocity-update": 0.02, "newmark-penalty": 0.02, "static": 1.0}


def deck(method):
    cube = lambda name, at, v: (
        f"[body.{name}]\nmesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [3, 3, 3], at = {at} }}\n"
        f"material = \"soft\"\nvelocity = {v}\n")
    text = (f"method = \"{method}\"\nend = {END[method]}\n[material.soft]\nlaw = \"neo-hookean\"\nyoung = 1e5\npoisson = 0.3\n"
            "density = 1000\n[output]\nhistory = 40\nframes = 8\ncheckpoint = 0\n")
    if method in ("velocity-update", "newmark-penalty"):
        # points on facets and iterations make their steps dear
        text, cube = text + "[step]\nsize = 1e-3\n", lambda *of, cube=cube: cube(*of).replace("[3, 3, 3]", "[2, 2, 2]")
    if method == "static":
        return text + (cube("a", "[0, 0, 0]", "[0, 0, 0]").replace("cells = [3, 3, 3]", "cells = [6, 6, 6]") + "fix = \"zmin\"\n[static]\nsteps = 60\n"
                       "[[load]]\nbody = \"a\"\nset = \"zmax\"\ntraction = [2e3, 1e3, 5e3]\ntable = [[0, 0], [1, 1]]\n")
    return (text + cube("a", "[0, 0, 0.002]", "[0.2, 0, -1]") + cube("b", "[0.03, 0.01, 0.105]", "[0, 0.1, -1.5]") +
            "gravity = [0, 0, -9.81]\n[body.floor]\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n[contact]\nfriction = 0.3\n"
            "[probe.a]\ncontact = \"a\"\n")


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def start(self, deck, out, *more):
        return subprocess.Popen([self.path, "run", str(deck), "--out", str(out), "--quiet", *more], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def run(self, deck, out, *more):
        child = self.start(deck, out, *more)
        _, told = child.communicate()
        return child.returncode, told


def contents(folder):
    """Bytes of all files but checkpoints; walls and memory taken out of the summary, and the deck by what it says."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or name.startswith("checkpoint.") or name == "lock":
            continue
        data = path.read_bytes()
        if name == "summary.json":
            summary = json.loads(data)
            told = data.rpartition(b',\n  "checksum"')[0]
            # of wall times too, so it stays only where it is wrong
            if summary.get("checksum") == f"{zlib.crc32(told):08x}":
                summary.pop("checksum")
            for key in ["wall_seconds", "loop_seconds", "phase_seconds", "peak_rss_bytes", "threads"]:
                summary.pop(key, None)
            data = json.dumps(summary, sort_keys=True).encode()
        if name == "deck.toml":
            data = repr(tomllib.loads(data.decode())).encode()
        files[name] = data
    return files


def raw(folder):
    return {str(p.relative_to(folder)): (os.readlink(p) if p.is_symlink() else p.read_bytes() if p.is_file() else None)
            for p in sorted(folder.rglob("*")) if p.name != "lock"}


def differences(a, b):
    return sorted(n for n in set(a) | set(b) if a.get(n) != b.get(n))


def chains(program, place, count, dice, wrong):
    whole, kills, took = {}, 0, {}
    for i in range(count):
        method = METHODS[i % len(METHODS)]
        path = place / f"{method}.toml"
        if method not in whole:
            path.write_text(deck(method))
            begin = time.monotonic()
            code, told = program.run(path, place / f"whole-{method}")
            took[method] = time.monotonic() - begin
            if code != 0:
                wrong.append(f"chain: {method} ends with {code}: {told}")
                whole[method] = None
                continue
            whole[method] = contents(place / f"whole-{method}")
        if whole[method] is None:
            continue
        out = place / f"chain-{i}"
        for attempt in range(200):
            more = ["--resume"] if (out / "summary.json").exists() else []
            child = program.start(path, out, "--threads", dice.choice("12"), *more)
            try:
                _, told = child.communicate(timeout=dice.uniform(0, 0.5 * took[method]) if attempt < 12 else None)
                break
            except subprocess.TimeoutExpired:
                child.send_signal(dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
                kills += 1
                _, told = child.communicate()
                # by the signal itself if it came before anybody listened
                if child.returncode not in (-9, -15, -2, 130, 143, 0):
                    wrong.append(f"chain {i} ({method}): {child.returncode} after a signal: {told}")
                    break
        if child.returncode != 0:
            wrong.append(f"chain {i} ({method}): ends with {child.returncode}: {told}")
        elif bad := differences(contents(out), whole[method]):
            wrong.append(f"chain {i} ({method}): {', '.join(bad)} differ")
        shutil.rmtree(out, ignore_errors=True)
    return f"{count} chains, {kills} signals"


def races(program, place, count, dice, wrong):
    path = place / "race.toml"
    path.write_text(deck("dcr"))
    whole = place / "whole-race"
    program.run(path, whole)
    expected = contents(whole)
    refused = 0
    for i in range(count):
        out = place / f"race-{i}"
        state = dice.choice(["free", "finished", "interrupted"])
        if state == "finished":
            shutil.copytree(whole, out)
        elif state == "interrupted":
            child = program.start(path, out)
            time.sleep(dice.uniform(0.05, 0.3))
            child.kill()
            child.communicate()
        begun = (out / "summary.json").exists()
        ways = ["--resume", "--overwrite"] if begun else [None]
        pair = [program.start(path, out, *filter(None, [dice.choice(ways)])) for _ in range(2)]
        told = [child.communicate()[1] for child in pair]
        codes = [child.returncode for child in pair]
        refused += codes.count(2)
        if 0 not in codes or any(c not in (0, 2) for c in codes):
            wrong.append(f"race {i} ({state}): {codes}: {told}")
        for code, text in zip(codes, told):
            if code == 2 and not any(w in text for w in ["process", "holds a run already", "no run to resume"]):
                wrong.append(f"race {i} ({state}): refused without a reason: {text}")
        if bad := differences(contents(out), expected):
            wrong.append(f"race {i} ({state}): {', '.join(bad)} differ")
        shutil.rmtree(out, ignore_errors=True)
    return f"{count} races, {refused} refused"


FILES = ["summary.json", "deck.toml", "history.csv", "frames.pvd", "checkpoint.a", "checkpoint.b", "frames/000000.vtu", "frames/000004.vtu",
         "frames/000008.vtu"]
DAMAGES = ["missing", "empty", "half", "last byte", "first byte", "bit", "zeros", "tail of zeros", "doubled", "text", "other run", "link",
           "link to device", "folder", "unreadable bytes"]


def damage(path, kind, other, place, dice):
    data = path.read_bytes()
    flipped = bytearray(data)
    at = dice.randrange(len(data))
    flipped[at] ^= 1 << dice.randrange(8)
    new = {"empty": b"", "half": data[:len(data) // 2], "last byte": data[:-1], "first byte": data[1:], "bit": bytes(flipped),
           "zeros": bytes(len(data)), "tail of zeros": data[:len(data) // 2] + bytes(len(data) - len(data) // 2),
           "doubled": data + data, "text": b"dear reader\n", "unreadable bytes": bytes(255 - b for b in data)}
    path.unlink()
    if kind in new:
        path.write_bytes(new[kind])
    elif kind == "other run":
        shutil.copy(other, path)
    elif kind == "link":
        victim = place / "victim"
        victim.write_bytes(data)
        path.symlink_to(victim)
    elif kind == "link to device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()


def damages(program, place, count, dice, wrong):
    path, other = place / "damage.toml", place / "other.toml"
    path.write_text(deck("dcr"))
    other.write_text(deck("dcr").replace("young = 1e5", "young = 2e5"))
    whole, foreign = place / "whole-damage", place / "whole-other"
    program.run(path, whole)
    program.run(other, foreign)
    expected = contents(whole)
    mended = refused = 0
    for i, (name, kind) in enumerate([(f, d) for f in FILES for d in DAMAGES][:count]):
        out = place / f"damage-{i}"
        shutil.copytree(whole, out)
        damage(out / name, kind, foreign / name, place, dice)
        before = raw(out)
        child = program.start(path, out, "--resume")
        while (used := processor(child.pid)) is not None and used < 20:
            time.sleep(0.01)
        if used is not None:
            child.kill()
        _, told = child.communicate()
        code = child.returncode if used is None else "no end"
        if code == 0:
            mended += 1
            if bad := differences(contents(out), expected):
                wrong.append(f"damage: {name} {kind}: exit code 0, and {', '.join(bad)} differ")
        elif code == 2:
            refused += 1
            if bad := differences(raw(out), before):
                wrong.append(f"damage: {name} {kind}: refused, and {', '.join(bad)} changed")
            if name.split("/")[-1].removesuffix(".vtu") not in told and not any(w in told for w in ["not from a run", "made from another deck"]):
                wrong.append(f"damage: {name} {kind}: refused without its name: {told}")
        else:
            wrong.append(f"damage: {name} {kind}: ends with {code}: {told}")
        victim = place / "victim"
        if victim.exists() and kind == "link" and victim.read_bytes() != (whole / name).read_bytes():
            wrong.append(f"damage: {name} {kind}: what the link led to was changed")
        shutil.rmtree(out, ignore_errors=True)
    return f"{mended + refused} damaged folders, {mended} mended, {refused} refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--chains", type=int, default=200)
    parser.add_argument("--races", type=int, default=50)
    parser.add_argument("--damages", type=int, default=len(FILES) * len(DAMAGES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["chains", "races", "damages"])
    options = parser.parse_args()
    program, wrong = Program(options.program), []
    for name, work in [("damages", damages), ("races", races), ("chains", chains)]:
        if options.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="carom-abuse-") as place:
            print(work(program, pathlib.Path(place), getattr(options, name), random.Random(options.seed), wrong), flush=True)
    for what in wrong:
        print("WRONG", what.strip())
    print(f"{len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
