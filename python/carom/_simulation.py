"""A run that is carried on piece by piece, looked at and taken part in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom, _deck
from ._deck import Deck

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
#: Forces [N] on all nodes at a time [s] and positions [m], as an array of three columns; None for no force.
Load = Callable[[float, Array], Optional[ArrayLike]]


class History(dict[str, Array]):
    """Columns of `history.csv` by name."""

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row for each history time; `time` is its index."""
        import pandas

        return pandas.DataFrame(dict(self)).set_index("time")

    @property
    def probes(self) -> dict[str, dict[str, Array]]:
        """Columns of probes: `history.probes["tip"]["ux"]`."""
        found: dict[str, dict[str, Array]] = {}
        for name, column in self.items():
            probe, dot, component = name.rpartition(".")
            if dot:
                found.setdefault(probe, {})[component] = column
        return found


class Contact(NamedTuple):
    """One contact: `impulse` [N s] on the first of the two bodies, towards which `normal` points."""

    bodies: tuple[str, str]
    point: Array
    normal: Array
    gap: float
    impulse: Array


class Contacts(Sequence[Contact]):
    """What carried an impulse in the last step, as arrays with one row for each contact; also a sequence of them.

    `bodies` counts in `names`, obstacles after bodies; `gap` [m] is negative for an overlap.
    """

    def __init__(self, names: list[str], bodies: NDArray[np.int64], point: Array, normal: Array, gap: Array, impulse: Array):
        self.names = names
        self.bodies = bodies.reshape(-1, 2)
        self.point = point
        self.normal = normal
        self.gap = gap
        self.impulse = impulse

    def __len__(self) -> int:
        return len(self.gap)

    def __getitem__(self, i):  # type: ignore[no-untyped-def, override]
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        first, second = (self.names[b] for b in self.bodies[i])
        return Contact((first, second), self.point[i], self.normal[i], float(self.gap[i]), self.impulse[i])

    def __iter__(self) -> Iterator[Contact]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} contacts>"


class Simulation(_carom.Simulation):
    """A simulation: from :func:`load`. Its threads compute while other Python threads go on; Ctrl-C stops it between two steps.

    Arrays are copies while the run moves, and views that cannot be written on once it is finished.
    """

    def __repr__(self) -> str:
        return f"<carom.Simulation at t = {self.time:g} of {self.end:g} s>"

    @property
    def x(self) -> Array:
        """Positions of all nodes [m], one row each."""
        return self.nodes()[0]

    @property
    def v(self) -> Array:
        """Velocities of all nodes [m/s], one row each."""
        return self.nodes()[1]

    @property
    def bodies(self) -> dict[str, slice]:
        """The nodes of each body: `sim.x[sim.bodies["ball"]]`."""
        return super().bodies()

    @property
    def history(self) -> History:
        """The rows of `history.csv` so far; of a run that was taken up, from there on."""
        return History(super().history())

    @property
    def probes(self) -> dict[str, dict[str, Array]]:
        """Columns of probes: `sim.probes["tip"]["ux"]`."""
        return self.history.probes

    @property
    def contacts(self) -> Contacts:
        """What carried an impulse in the last step."""
        return Contacts(self.body_names(), *self.contact_arrays())

    @property
    def energies(self) -> dict[str, float]:
        """Where energy is and went [J], as in `history.csv`, at the present time."""
        return super().energies()

    @property
    def warnings(self) -> list[str]:
        """What is odd about the deck, and why the result should not be believed."""
        return super().warnings()

    @property
    def summary(self) -> dict[str, Any]:
        """How it has gone so far, as in `summary.json`."""
        return json.loads(super().summary())

    def impulse_between(self, on: str, by: str) -> Array:
        """Impulse [N s] that body `by` has given to body `on` since the start; either may be an obstacle."""
        return np.array(super().impulse_between(on, by))

    def set_velocity(self, nodes: Union[str, slice, ArrayLike], velocity: ArrayLike) -> None:
        """Gives nodes, or the body of that name, a velocity [m/s], or one to each, as far as supports leave them.

        After the start it is an impulse from outside: its work is `external` in the energies.
        """
        if isinstance(nodes, str):
            if nodes not in self.bodies:
                raise KeyError(f"there is no body {nodes!r}; bodies are {', '.join(self.bodies)}")
            nodes = self.bodies[nodes]
        if isinstance(nodes, slice):
            last = max(part.stop for part in self.bodies.values())
            nodes = np.arange(last)[nodes]
        ids = np.atleast_1d(np.asarray(nodes))
        if ids.dtype == bool:
            ids = np.flatnonzero(ids)
        ids = np.ascontiguousarray(ids, dtype=np.int64)
        velocities = np.broadcast_to(np.asarray(velocity, dtype=float), (len(ids), 3))
        self.set_velocities(ids, np.ascontiguousarray(velocities))


def _wrapped(function: Load) -> Callable[[float, Array], Array | None]:
    def ask(time: float, x: Array) -> Array | None:
        forces = function(time, x)
        return None if forces is None else np.ascontiguousarray(forces, dtype=float)

    return ask


def load(
    deck: Deck,
    *,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    loads: Load | Sequence[Load] = (),
    checkpoint: str | os.PathLike[str] | None = None,
) -> Simulation:
    """Reads and builds a deck; nothing runs yet.

    `deck` is a path, the name of a built-in example, the text of a deck, or a dict. `set` writes over its values
    (`{"step.safety": 0.5}`). With `out` results go to that folder as those of `carom run` do; `resume` continues a run there,
    `overwrite` replaces it. `loads` are functions of time and positions that say forces on all nodes, asked once a step.
    `checkpoint` begins where :meth:`Simulation.save` left off.
    """
    name, text, folder, _ = _deck.find(deck)
    if resume and overwrite:
        raise ValueError("resume continues a run, overwrite replaces it: only one of them can be")
    if (resume or overwrite) and out is None:
        raise ValueError("resume and overwrite need a folder: out")
    if checkpoint is not None and out is not None:
        raise ValueError("a run with a folder takes up what is in the folder: resume=True instead of checkpoint")
    if threads is not None and threads < 1:
        raise ValueError("threads must be at least 1")
    functions = [loads] if callable(loads) else list(loads)
    options = {
        "set": _deck.options(set),
        "out": None if out is None else Path(out),
        "before": "resume" if resume else "replace" if overwrite else "keep",
        "threads": threads,
        "loads": [_wrapped(f) for f in functions],
        "checkpoint": None if checkpoint is None else Path(checkpoint),
    }
    return Simulation(name, text, folder, options)


def run(deck: Deck, **options: Any) -> Simulation:
    """Runs a deck to its end; takes what :func:`load` does."""
    simulation = load(deck, **options)
    simulation.run()
    return simulation


def examples() -> dict[str, str]:
    """The built-in examples: names and decks."""
    return dict(_carom.examples())
