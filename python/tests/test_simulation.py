"""Runs from Python are those of the program, and can be looked at and taken part in."""

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import carom


def columns(path):
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    return {name: np.array([float(row[i]) for row in rows]) for i, name in enumerate(names)}


def same(a, b):
    assert list(a) == list(b)
    for name in a:
        assert np.array_equal(a[name], b[name]), name


@pytest.mark.parametrize("method", ["dcr", "asynchronous", "semi-explicit", "bipotential-implicit"])
def test_histories_are_those_of_the_program_bit_for_bit(method, landing, program, tmp_path):
    deck = tmp_path / "cube.toml"
    deck.write_text(carom._deck.to_toml(landing))
    out = tmp_path / "out"
    command = [program, "run", deck, "--out", out, "--method", method, "--quiet", "--threads", "2"]
    subprocess.run(command, check=True)
    sim = carom.run(landing, set={"method": method}, threads=1)
    same(sim.history, columns(out / "history.csv"))
    results = carom.read(out)
    same(sim.history, results.history)
    assert results.summary["status"] == "finished" and results.summary["method"] == method
    assert np.array_equal(results.frame(-1).points[sim.bodies["cube"]], sim.x)


def test_a_deck_may_be_a_path_text_a_dict_or_an_example(landing, tmp_path):
    text = carom._deck.to_toml(landing)
    path = tmp_path / "deck.toml"
    path.write_text(text)
    runs = [carom.run(deck, set={"end": 0.004}) for deck in (path, str(path), text, landing)]
    for other in runs[1:]:
        same(runs[0].history, other.history)
    assert "two-bars" in carom.examples()
    assert carom.load("two-bars").end > 0


def test_pieces_make_up_the_whole(landing):
    whole = carom.run(landing)
    pieces = carom.load(landing)
    assert pieces.time == 0
    pieces.step()
    assert 0 < pieces.time < pieces.end and not pieces.finished
    pieces.advance(0.01)
    pieces.run()
    assert pieces.finished
    same(whole.history, pieces.history)
    assert np.array_equal(whole.x, pieces.x) and np.array_equal(whole.v, pieces.v)


def test_views_are_copies_while_it_moves_and_cannot_be_written_on_in_the_end(landing):
    sim = carom.load(landing)
    x = sim.x
    x[0] = 7  # ours
    sim.advance(0.01)
    assert not np.shares_memory(sim.x, sim.x) and sim.x[0, 0] != 7
    before = sim.x
    kept = before.copy()
    sim.run()
    assert np.array_equal(before, kept)
    assert sim.x is sim.x and sim.history["time"] is sim.history["time"]
    for view in (sim.x, sim.v, sim.history["time"]):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0
    last = sim.x
    del sim
    assert np.isfinite(last).all()


def test_history_becomes_a_table_of_pandas(landing):
    pandas = pytest.importorskip("pandas")
    sim = carom.run(landing)
    table = sim.history.to_pandas()
    assert isinstance(table, pandas.DataFrame) and table.index.name == "time" and len(table) == 11
    assert np.array_equal(table["push.fz"], sim.probes["push"]["fz"])


def test_contacts_have_bodies_places_and_impulses_that_add_up(landing):
    sim = carom.load(landing)
    assert len(sim.contacts) == 0
    given, most = np.zeros(3), 0
    while sim.time < 0.01:
        sim.step()
        contacts = sim.contacts
        given += contacts.impulse.sum(axis=0)
        most = max(most, len(contacts))
        for contact in contacts:
            assert contact.bodies == ("cube", "table")
            assert np.allclose(contact.normal, [0, 0, 1]) and contact.impulse[2] >= 0
            assert abs(contact.point[2]) < 0.01 and abs(contact.gap) < 0.01
    assert most > 0
    assert np.allclose(given, sim.impulse_between("cube", "table"), rtol=1e-12)
    with pytest.raises(ValueError, match="nobody"):
        sim.impulse_between("cube", "nobody")


def test_velocities_can_be_set(landing):
    landing["body"].pop("table"), landing.pop("contact"), landing.pop("probe")
    sim = carom.load(landing)
    sim.advance(0.01)
    start = sim.x
    at = sim.time
    sim.set_velocity("cube", [0, 2, 0])
    assert np.allclose(sim.v, [0, 2, 0])
    assert sim.energies["external"] == pytest.approx(0.5 * 1.0 * (4 - 1.01), rel=1e-9)
    sim.run()
    assert np.allclose(sim.x, start + (sim.time - at) * np.array([0, 2, 0]), atol=1e-9)
    assert abs(sim.energies["error"]) < 1e-9
    sim.set_velocity(slice(0, 3), np.zeros((3, 3)))
    assert np.array_equal(sim.v[:3], np.zeros((3, 3)))
    with pytest.raises(IndexError):
        sim.set_velocity([1000], [0, 0, 0])
    with pytest.raises(KeyError, match="cube"):
        sim.set_velocity("ball", [0, 0, 0])


def test_a_load_of_ones_own_does_the_work_it_says(landing):
    """A spring to the start on every node: its energy ½ k u² is what it took, whatever the cube does."""
    landing["body"].pop("table"), landing.pop("contact"), landing.pop("probe")
    stiffness, calls, start = 500.0, [], None

    def spring(time, x):
        nonlocal start
        calls.append(time)
        start = x if start is None else start
        return -stiffness * (x - start)

    sim = carom.run(landing, loads=spring)
    stored = 0.5 * stiffness * ((sim.x - start) ** 2).sum()
    assert sim.energies["external"] == pytest.approx(-stored, rel=1e-3)
    steps = sim.summary["steps"]
    assert steps <= len(calls) <= steps + 2, "once a step"
    plain = carom.run(landing, loads=lambda time, x: None)
    assert plain.energies["external"] == 0


def test_what_a_load_raises_comes_out(landing):
    def bad(time, x):
        if time > 0.005:
            raise ZeroDivisionError("mine")

    sim = carom.load(landing, loads=[bad])
    with pytest.raises(ZeroDivisionError, match="mine"):
        sim.run()
    assert 0.004 < sim.time < 0.01
    for wrong, words in [(np.zeros((2, 3)), "each of the 27 nodes"), (np.full((27, 3), np.nan), "finite"), (np.zeros(3), None)]:
        with pytest.raises((ValueError, TypeError), match=words):
            carom.run(landing, loads=lambda time, x, wrong=wrong: wrong)


def test_a_simulation_that_is_carried_on_does_not_answer_its_own_load(landing):
    seen = []
    sim = carom.load(landing, loads=lambda time, x: seen.append(ask()))

    def ask():
        try:
            return sim.time
        except RuntimeError as error:
            return str(error)

    sim.step()
    assert seen and "carried on" in seen[-1]


def test_a_state_can_be_kept_and_taken_up(landing, tmp_path):
    whole = carom.load(landing)
    whole.advance(0.007)
    whole.save(tmp_path / "state")
    whole.run()
    again = carom.load(landing, checkpoint=tmp_path / "state")
    again.run()
    assert np.array_equal(whole.x, again.x)
    with pytest.raises(ValueError, match="checkpoint"):
        carom.load(landing, checkpoint=tmp_path / "state", out=tmp_path / "out")


def test_a_folder_is_not_lost_and_can_be_resumed(landing, tmp_path):
    out = tmp_path / "out"
    carom.run(landing, out=out)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        carom.run(landing, out=out)
    carom.run(landing, out=out, set={"end": 0.03}, resume=True)
    assert carom.read(out).history["time"][-1] >= 0.03
    carom.run(landing, out=out, overwrite=True)
    assert carom.read(out).history["time"][-1] < 0.03
    with pytest.raises(FileNotFoundError):
        carom.load(landing, out=tmp_path / "none", resume=True)


def test_deck_errors_have_the_words_of_the_program(landing, program, tmp_path):
    landing["body"]["cube"]["material"]["law"] = "neo-hooke"
    landing["methid"] = "dcr"
    path = tmp_path / "cube.toml"
    path.write_text(carom._deck.to_toml(landing))
    told = subprocess.run([program, "check", path], capture_output=True, text=True)
    assert told.returncode == 2
    with pytest.raises(carom.DeckError) as error:
        carom.load(path)
    assert str(error.value).strip() == told.stderr.strip()
    assert "neo-hookean" in str(error.value) and isinstance(error.value, ValueError)
    with pytest.raises(FileNotFoundError, match="two-bars"):
        carom.load("no-such-deck")
    with pytest.raises(TypeError, match="set"):
        carom.load({"end": {1, 2}})


def test_failures_carry_the_last_good_state(landing):
    landing["body"].pop("table"), landing.pop("contact"), landing.pop("probe")
    sim = carom.load(landing)
    # the upper side is shot through the lower one
    sim.set_velocity(sim.x[:, 2] > 0.09, [0, 0, -500])
    with pytest.raises(carom.SimulationError, match="cube") as error:
        sim.run()
    assert isinstance(error.value, RuntimeError)
    assert error.value.time == sim.time and np.isfinite(error.value.x).all()
    assert np.array_equal(error.value.x, sim.x) and error.value.v.shape == (27, 3)


def test_five_threads_compute_at_the_same_time_and_get_the_same(landing):
    with ThreadPoolExecutor(5) as pool:
        runs = list(pool.map(lambda _: carom.run(landing, threads=1), range(5)))
    for other in runs[1:]:
        same(runs[0].history, other.history)


def longer(landing):
    landing["body"]["cube"]["mesh"]["cells"] = [12, 12, 12]
    return landing


def test_other_threads_go_on_while_it_computes(landing):
    sim = carom.load(longer(landing), threads=1)
    counted, running = 0, True

    def count():
        nonlocal counted
        while running:
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    sim.run()
    took = time.perf_counter() - begin
    running = False
    thread.join()
    # a thread that waited for Python's lock would have counted to one or two
    assert counted > 20 * took, f"{counted} in {took:.2f} s"


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # who is started in the background does not hear it
import sys, carom, numpy
from conftest import LANDING as deck
deck["body"]["cube"]["mesh"]["cells"] = [8, 8, 8]
whole = carom.run(deck, threads=1)
sim = carom.load(deck, set={"end": 1000.0}, threads=1)
if "stepped" in sys.argv:
    [sim.step() for _ in range(20)], sim.x
print("ready", flush=True)
try:
    sim.run()
except KeyboardInterrupt:
    print("stopped", flush=True)
    assert 0 < sim.time < sim.end
    sim.step()
    before = sim.time
    sim.advance(before + 1e-4)
    assert sim.time > before
    print("went on", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("before", ["fresh", "stepped"])
def test_ctrl_c_stops_between_two_steps_and_it_can_go_on(before):
    here = os.path.dirname(__file__)
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED, before], stdout=subprocess.PIPE, text=True, cwd=here)
    guard = threading.Timer(60, child.kill)  # rather than wait for ever
    guard.start()
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    begin = time.perf_counter()
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "stopped\n"
    assert time.perf_counter() - begin < 5
    assert child.stdout.readline() == "went on\n"
    assert child.wait(30) == 0
    guard.cancel()


def test_warnings_and_summary_tell_what_the_program_tells(landing):
    sim = carom.run(landing)
    assert sim.warnings == sim.summary["warnings"]
    assert sim.summary["method"] == "dcr" and sim.summary["nodes"] == 27
    assert sim.energies["total"] == sim.history["total"][-1]
