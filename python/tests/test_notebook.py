"""The notebook runs from top to bottom."""

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "bouncing_ball.ipynb"


def test_the_notebook_runs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for number, cell in enumerate(json.loads(NOTEBOOK.read_text())["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    # what it says about the physics holds
    assert names["rebound"].min() > 0
    assert (names["rebound"].argsort() == range(len(names["rebound"]))).all()
    assert (tmp_path / "energies.png").exists()
