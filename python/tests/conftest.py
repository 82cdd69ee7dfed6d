import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: A cube that lands on a table and slides.
LANDING = {
    "method": "dcr",
    "end": 0.02,
    "output": {"history": 10, "frames": 2},
    "body": {
        "cube": {
            "mesh": {"shape": "box", "size": [0.1, 0.1, 0.1], "cells": [2, 2, 2], "at": [0, 0, 0.002]},
            "material": {"law": "neo-hookean", "young": 1e5, "poisson": 0.3, "density": 1000},
            "velocity": [0.1, 0, -1],
        },
        "table": {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1]}},
    },
    "contact": {"friction": 0.3},
    "probe": {"push": {"contact": "cube"}},
}


@pytest.fixture
def landing():
    import copy

    return copy.deepcopy(LANDING)


@pytest.fixture
def program():
    """The program `carom`, if it was built."""
    found = os.environ.get("CAROM") or shutil.which("carom") or ROOT / "target/release/carom"
    if not Path(found).exists():
        pytest.skip("the program carom is not built: cargo build --release, or set CAROM")
    return str(found)
