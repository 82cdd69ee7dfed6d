"""The compiled part. Use :mod:`carom`."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

_Array = NDArray[np.float64]

class DeckError(ValueError):
    """A deck, or a mesh that it names, is wrong: the same words as the program's, with places."""

class SimulationError(RuntimeError):
    """A step could not be done. `time`, `x` and `v` are those of the last good state."""

    time: float
    x: _Array
    v: _Array

class Simulation:
    def __new__(cls, name: str, text: str, folder: Path, options: dict[str, Any]) -> Simulation: ...
    def start(self) -> None:
        """Begins; looking at nodes or history does so by itself."""
    def run(self) -> None:
        """Carries on to the end; leaves checkpoint and summary behind where there is a folder."""
    def advance(self, until: float) -> None:
        """Carries on to the first instant at or after `until` [s] that the method reaches by itself: no step is shortened."""
    def step(self) -> None:
        """One step of the method."""
    def finish(self) -> None:
        """Ends a run that was carried piece by piece: leaves checkpoint and summary behind where there is a folder."""
    def save(self, path: os.PathLike[str]) -> None:
        """Keeps everything that decides the future in one file, which `carom.load(deck, checkpoint=…)` takes up."""
    @property
    def time(self) -> float: ...
    @property
    def end(self) -> float: ...
    @property
    def threads(self) -> int: ...
    @property
    def finished(self) -> bool: ...
    def nodes(self) -> tuple[_Array, _Array]: ...
    def body_names(self) -> list[str]: ...
    def contact_arrays(self) -> tuple[NDArray[np.int64], _Array, _Array, _Array, _Array]: ...
    def set_velocities(self, nodes: NDArray[np.int64], velocities: _Array) -> None: ...

    # made into properties by carom.Simulation
    bodies: Any
    energies: Any
    history: Any
    summary: Any
    warnings: Any
    impulse_between: Callable[..., Any]

class Results:
    def __new__(cls, folder: Path) -> Results: ...
    @property
    def folder(self) -> Path: ...
    @property
    def times(self) -> _Array: ...
    def text(self, name: str) -> str: ...
    def columns(self) -> dict[str, _Array]: ...
    def frame_path(self, index: int) -> Path: ...
    def frame_arrays(self, index: int) -> dict[str, Any]: ...
    def html(self, file: Path, limit: float) -> tuple[tuple[int, int], list[str]]: ...

class Study:
    def __new__(
        cls, name: str, text: str, folder: Path, options: list[str], varied: list[tuple[str, list[str]]], zip: bool, out: Path
    ) -> Study: ...
    @property
    def folder(self) -> Path: ...
    def members(self) -> list[tuple[str, list[str], list[str]]]: ...
    def commands(self, program: str) -> list[str]: ...
    def collect(self) -> list[Path]: ...

def examples() -> list[tuple[str, str]]: ...
