#!/usr/bin/env python3
"""How soon the program ends when it is told to: Ctrl-C at random moments of every command, every method and every phase.

    tools/stops.py target/release/carom [--each 10] [--only NAME] [--seed 1] [--most 2.0]

A moment is one of the program's own processor time, so that a busy machine changes nothing; so is what is judged, the time from the
signal to the end. The wall's clock is told beside it. Every command runs on one thread. Exit status 0 only if nothing took longer than `--most`
seconds, every end has the code of a signal (or came before the signal), and every folder that was begun can be resumed or is free.
"""
import argparse, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, time
from processor import processor

CONTACT = ["dcr", "asynchronous", "verlet", "semi-explicit", "nonsmooth", "bipotential-implicit", "velocity-update", "newmark-penalty"]
SOFT = "material = { law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }\n"
FLOOR = "[body.floor]\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n"


def head(method, end=1e3, more=""):
    return f"method = \"{method}\"\nend = {end}\n{more}[output]\nhistory = 10\nframes = 2\n"


def box(name, cells, at="[0, 0, 0.0001]", size="[0.1, 0.1, 0.1]", more=SOFT):
    return f"[body.{name}]\nmesh = {{ shape = \"box\", size = {size}, cells = {cells}, at = {at} }}\n{more}"


def block_on_obstacle(method, fine=40, cells="[12, 12, 12]"):
    """A block falls on an obstacle of many triangles, and rubs."""
    obstacle = box("o", f"[{fine}, {fine}, 1]", "[-0.1, -0.1, -0.1]", "[0.3, 0.3, 0.1]", "")
    return head(method) + box("a", cells) + "velocity = [0.1, 0, -1]\n" + obstacle + "[contact]\nfriction = 0.3\n"


def pulled(cells):
    load = "fix = \"zmin\"\n[[load]]\nbody = \"a\"\nset = \"zmax\"\ntraction = [2e3, 1e3, 5e3]\ntable = [[0, 0], [1, 1]]\n"
    return head("static", 1.0) + box("a", cells) + load


def many(method, count):
    array = f"array = {{ count = {count}, spacing = [0.2, 0.2, 0.2] }}\n"
    return head(method) + box("a", "[1, 1, 1]") + array + FLOOR


def shattered(method, pieces):
    return head(method) + box("a", "[1, 1, 1]", "[0, 0, 0.01]") + f"shatter = {{ pieces = {pieces}, seed = 1, burst = 2.0 }}\n" + FLOOR


def with_probes(count):
    """A block and many probes, every one with plots of its own."""
    probes = "".join(f"[probe.p{i}]\nbody = \"a\"\nnode = {i}\n" for i in range(count))
    return head("verlet", 0.001) + box("a", "[15, 15, 15]") + probes


def scenes(program, place):
    """Name, what makes the arguments of the program ({out}: a fresh folder), and the processor time [s] within which the signal comes."""
    def deck(name, text):
        path = place / f"{name}.toml"
        path.write_text(text)
        return str(path)

    def run(name, text):
        return lambda: ["run", deck(name, text), "--out", "{out}", "--quiet", "--threads", "1"]

    def check(name, text):
        return lambda: ["check", deck(name, text), "--threads", "1"]

    def done(name, text):
        """The folder of a run that has been done."""
        out = place / f"done-{name}"
        if not out.exists():
            arguments = [program, "run", deck(name, text), "--out", out, "--quiet", "--threads", "1"]
            subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
        return str(out)

    for method in CONTACT:
        yield f"run {method}", run(method, block_on_obstacle(method)), 6
    yield "run static", run("static", pulled("[20, 20, 20]")), 6
    family = block_on_obstacle("nonsmooth", cells="[16, 16, 16]") + "[nonsmooth]\nbeta = 0.25\n"
    yield "run nonsmooth with β", run("family", family), 10
    for method in CONTACT[5:]:
        text = head(method) + box("a", "[32, 32, 32]") + "velocity = [0.1, 0, -1]\n" + FLOOR
        yield f"10⁵ unknowns {method}", run(f"large-{method}", text), 16
    yield "10⁵ unknowns static", run("large-static", pulled("[32, 32, 32]")), 16

    cells = head("dcr") + box("a", "[160, 160, 160]") + FLOOR
    pieces = shattered("nonsmooth", 500)
    yield "run, 4 million cells", run("cells", cells), 15
    for method in CONTACT:
        yield f"40 000 bodies {method}", run(f"copies-{method}", many(method, "[40, 40, 25]")), 12
        yield f"fine obstacle {method}", run(f"obstacle-{method}", block_on_obstacle(method, 400)), 8
    yield "500 pieces", run("pieces", pieces), 12
    yield "check, 4 million cells", check("cells", cells), 15
    yield "check, 40 000 bodies", check("copies", many("dcr", "[40, 40, 25]")), 8
    yield "check, fine obstacle", check("obstacle", block_on_obstacle("dcr", 400)), 4
    yield "check, 500 pieces", check("pieces", pieces), 8

    # commands that want a finished run
    held = pulled("[16, 16, 16]").replace("[0, 0], [1, 1]", "[0, 1], [1, 1]") + "[static]\nsteps = 1\n"
    many_frames = head("dcr", 2e-4).replace("frames = 2", "frames = 30") + box("a", "[40, 40, 40]") + FLOOR
    then = lambda: head("dcr", more=f"start = {{ from = \"{done('held', held)}\" }}\n") + box("a", "[16, 16, 16]")
    yield "start from a run", lambda: run("then", then())(), 4
    seen = lambda: done("seen", many_frames)
    yield "replay", lambda: ["replay", seen(), "--out", "{out}", "--quiet", "--threads", "1"], 4
    yield "render", lambda: ["render", seen(), "--all", "--size", "800x600", "--out", "{out}/x.gif", "--threads", "1"], 6
    yield "render, a page", lambda: ["render", seen(), "--html", "{out}/x.html", "--threads", "1"], 4
    yield "plot", lambda: ["plot", done("probes", with_probes(3000)), "--out", "{out}", "--threads", "1"], 6
    quiet = ["--out", "{out}", "--quiet", "--threads", "1"]
    yield "study", lambda: ["study", deck("study", pulled("[24, 24, 24]")), "--vary", "static.steps=5,10", *quiet], 12
    yield "compare", lambda: ["compare", deck("compared", block_on_obstacle("dcr")), "--methods", "dcr,velocity-update", *quiet], 8
    yield "reproduce", lambda: ["reproduce", "--all", "--quick", "--out", "{out}", "--threads", "1"], 60
    yield "soak", lambda: ["bench", "soak", "--minutes", "5"], 10


def stopped(arguments, moment):
    """Signals a program at a moment of its processor time; how long it went on [s of processor, s], and its exit status."""
    with tempfile.TemporaryFile("w+") as told:
        child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=told)
        try:
            while (used := processor(child.pid)) is not None and used < moment:
                time.sleep(0.01)
        except BaseException:
            child.kill()
            raise
        if used is not None:
            child.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        text = told.read()
    total = usage.ru_utime + usage.ru_stime
    return (None if used is None else (max(0.0, total - used), time.monotonic() - begin)), child.returncode, text


def can_go_on(arguments, out):
    """What is left of a run that was stopped: nothing, or a folder that is taken up without complaint."""
    if arguments[0] != "run" or not out.exists():
        return None
    left = [str(p) for p in out.rglob("*.tmp")]
    summary = json.loads((out / "summary.json").read_text()) if (out / "summary.json").exists() else None
    if summary and summary["status"] not in ("interrupted", "finished"):
        return f"its summary says {summary['status']}"
    return f"left {left}" if left and summary and summary["status"] == "finished" else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--only", default="", help="only scenes whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=2.0)
    options = parser.parse_args()
    # whoever ends this ends what it has started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    program, dice, wrong = os.path.abspath(options.program), random.Random(options.seed), []
    print(f"{'':<36} stops  worst [s of processor] [s]")
    with tempfile.TemporaryDirectory(prefix="carom-stops-") as place:
        place = pathlib.Path(place)
        for name, prepare, span in scenes(program, place):
            if options.only not in name:
                continue
            arguments = prepare()
            worst, heard = (0.0, 0.0), 0
            for i in range(options.each):
                out, moment = place / "out", span * (i + dice.random()) / options.each
                took, code, told = stopped([program, *(a.replace("{out}", str(out)) for a in arguments)], moment)
                if took is not None:
                    heard += 1
                    worst = max(worst, took)
                    if code not in (130, -signal.SIGINT) and not (code == 0 and took[0] < options.most):
                        wrong.append(f"{name} at {moment:.2f} s: ends with {code}: {told[-500:]}")
                    elif took[0] > options.most:
                        wrong.append(f"{name} at {moment:.2f} s: {took[0]:.1f} s of processor time, {took[1]:.1f} s")
                    if bad := can_go_on(arguments, out):
                        wrong.append(f"{name} at {moment:.2f} s: {bad}")
                elif code not in (0, 3, 4):
                    wrong.append(f"{name}: ends with {code} by itself: {told[-500:]}")
                shutil.rmtree(out, ignore_errors=True)
                if took is None:
                    break
            print(f"{name:<36} {heard:>5} {worst[0]:>10.2f} {worst[1]:>18.2f}", flush=True)
    for what in wrong:
        print("WRONG", what.strip())
    print(f"{len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
