"""Folders, studies, and that the package says its types."""

import ast
import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import carom


def test_a_folder_shows_history_summary_deck_and_frames(landing, tmp_path):
    out = tmp_path / "out"
    sim = carom.run(landing, out=out)
    results = carom.read(out)
    assert len(results.times) == 3 and results.times[-1] == sim.time
    frame = results.frame(-1)
    (kind, nodes), *_ = frame.cells
    assert kind == "hex8" and nodes.shape == (8, 8) and nodes.max() == 26
    assert np.array_equal(frame.points[:27], sim.x)
    assert frame.point_fields["velocity"].shape[1] == 3 and frame.cell_fields["mises"].ndim == 1
    assert np.allclose(frame.point_fields["velocity"][:27], sim.v, rtol=1e-6, atol=1e-6)
    assert "neo-hookean" in results.deck
    with pytest.raises(ValueError, match="read-only"):
        results.history["time"][0] = 1
    with pytest.raises(IndexError):
        results.frame(3)
    with pytest.raises(FileNotFoundError):
        carom.read(tmp_path / "none")
    results.save_html(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size < 25e6


def test_pyvista_reads_a_frame(landing, tmp_path):
    pytest.importorskip("pyvista")
    sim = carom.run(landing, out=tmp_path / "out")
    grid = carom.read(tmp_path / "out").pyvista(-1)
    assert np.array_equal(np.asarray(grid.points)[:27], sim.x)
    assert "stress" in grid.cell_data


class Own:
    """The least that an executor can be."""

    def __init__(self):
        self.calls = 0

    def submit(self, function, /, *arguments):
        self.calls += 1
        result = function(*arguments)
        return type("Done", (), {"result": lambda self: result})()


@pytest.mark.parametrize("kind", [None, ThreadPoolExecutor, ProcessPoolExecutor, Own])
def test_a_study_runs_on_any_executor_and_is_not_done_twice(kind, landing, tmp_path):
    import multiprocessing

    vary = {"contact.friction": [0.0, 0.3], "body.cube.velocity": [[0.1, 0, -1], [0.5, 0, -1]]}
    made = {None: lambda: None, Own: Own, ThreadPoolExecutor: lambda: ThreadPoolExecutor(2)}
    made[ProcessPoolExecutor] = lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    executor = made[kind]()
    study = carom.study(landing, vary, out=tmp_path / "study", set={"end": 0.01}, executor=executor)
    rows = study.rows
    assert len(rows) == 4 and not study.failures and all(row["status"] == "finished" for row in rows)
    assert [row["contact.friction"] for row in rows] == [0.0, 0.0, 0.3, 0.3]
    # friction takes more where it slides faster, and nothing without friction
    friction = [results.history["friction"][-1] for results in study.runs]
    assert friction[0] == friction[1] == 0 and 0 < friction[2] < friction[3]
    alone = carom.run(landing, set={"end": 0.01, "contact.friction": 0.3})
    assert np.array_equal(alone.history["kinetic"], study.runs[2].history["kinetic"])
    if kind is Own:
        carom.study(landing, vary, out=tmp_path / "study", set={"end": 0.01}, executor=executor)
        assert executor.calls == 4
    elif kind is not None:
        executor.shutdown()


def test_a_study_can_pair_its_values_and_tells_what_fails(landing, tmp_path):
    vary = {"contact.friction": [0.0, 0.3], "end": [0.002, 0.004]}
    study = carom.study(landing, vary, out=tmp_path / "pairs", zip=True)
    assert [row["end"] for row in study.rows] == [0.002, 0.004]
    with pytest.raises(carom.DeckError, match="friction"):
        carom.study(landing, {"contact.friction": [0.0, -1.0]}, out=tmp_path / "bad")
    assert not (tmp_path / "bad").exists(), "nothing runs before all decks are right"
    with pytest.raises(FileExistsError, match="another deck"):
        carom.study(landing, {"end": [0.001]}, out=tmp_path / "pairs")


@pytest.mark.parametrize("kind", [None, Own])
def test_a_run_that_was_killed_before_its_first_checkpoint_begins_anew(kind, landing, tmp_path):
    vary = {"contact.friction": [0.0, 0.3]}
    out = tmp_path / "study"
    carom.study(landing, vary, out=out)
    whole = [run.history["kinetic"] for run in carom.study(landing, vary, out=out).runs]
    run = out / "run-002"
    for file in run.glob("checkpoint*"):
        file.unlink()
    summary = (run / "summary.json").read_text().replace('"finished"', '"running"')
    (run / "summary.json").write_text(summary)
    again = carom.study(landing, vary, out=out, executor=kind and kind())
    assert not again.failures and [row["status"] for row in again.rows] == ["finished"] * 2
    assert all(np.array_equal(a, b.history["kinetic"]) for a, b in zip(whole, again.runs))


STOPPED = """
import carom, sys
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # who is started in the background does not hear it
from conftest import LANDING as deck
deck["body"]["cube"]["mesh"]["cells"] = [6, 6, 6]
print("ready", flush=True)
try:
    carom.study(deck, {"contact.friction": [0.0, 0.1, 0.2, 0.3]}, out=sys.argv[1], set={"end": 1000.0})
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_stops_a_study(tmp_path):
    command = [sys.executable, "-c", STOPPED, tmp_path / "study"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent)
    guard = threading.Timer(60, child.kill)
    guard.start()
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "stopped\n"
    assert child.wait(30) == 0
    guard.cancel()
    states = [json.loads(path.read_text())["status"] for path in (tmp_path / "study").glob("*/summary.json")]
    assert states and set(states) == {"interrupted"}


def test_stubs_name_everything_that_the_compiled_part_has():
    stubs = ast.parse(Path(inspect.getfile(carom)).with_name("_carom.pyi").read_text())
    classes = {node.name: node for node in stubs.body if isinstance(node, ast.ClassDef)}
    named = {node.name for node in stubs.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    public = {name for name in dir(carom._carom) if not name.startswith("_")}
    assert public == named
    for name, node in classes.items():
        told = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        told |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
        real = {m for m in vars(getattr(carom._carom, name)) if not m.startswith("_")}
        assert real <= told, name
    assert Path(inspect.getfile(carom)).with_name("py.typed").exists()
    assert set(carom.__all__) <= set(dir(carom))
