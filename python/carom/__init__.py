"""Carom: deformable bodies that hit, press, slide and stick.

>>> import carom
>>> sim = carom.load("two-bars")
>>> sim.advance(1e-4)
>>> sim.x[sim.bodies["left"]]
"""

import numpy  # noqa: F401  (first, on this thread: the compiled part uses it on others)

from ._carom import DeckError, SimulationError, __version__
from ._results import Frame, Results, read
from ._simulation import Contact, Contacts, History, Simulation, examples, load, run
from ._study import Study, study

__all__ = [
    "Contact",
    "Contacts",
    "DeckError",
    "Frame",
    "History",
    "Results",
    "Simulation",
    "SimulationError",
    "Study",
    "__version__",
    "examples",
    "load",
    "read",
    "run",
    "study",
]
