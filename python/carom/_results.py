"""Folders of runs, finished or going on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _carom
from ._simulation import Array, History

if TYPE_CHECKING:
    import pyvista


class Frame(NamedTuple):
    """One frame: points where they are, cells by kind, fields by name."""

    time: float
    points: Array
    cells: list[tuple[str, NDArray[np.int64]]]
    point_fields: dict[str, Array]
    cell_fields: dict[str, Array]


class Results(_carom.Results):
    """The folder of a run: from :func:`read`."""

    def __repr__(self) -> str:
        return f"<carom.Results in {self.folder}>"

    @property
    def history(self) -> History:
        """The rows of `history.csv` so far; nobody can write on them."""
        return History(self.columns())

    @property
    def summary(self) -> dict[str, Any]:
        """`summary.json`."""
        return json.loads(self.text("summary.json"))

    @property
    def deck(self) -> str:
        """The deck with every default written out."""
        return self.text("deck.toml")

    def frame(self, index: int) -> Frame:
        """A frame by its number, from the end if negative."""
        return Frame(**self.frame_arrays(self._at(index)))

    def pyvista(self, index: int = -1) -> pyvista.UnstructuredGrid:
        """A frame as PyVista's grid, if PyVista is installed."""
        import pyvista

        return pyvista.read(self.frame_path(self._at(index)))

    def save_html(self, file: str | os.PathLike[str], limit: float = 25.0) -> None:
        """Writes one interactive page that opens anywhere, of at most `limit` MB: frames are left out until it fits."""
        self.html(Path(file), limit)

    def _at(self, index: int) -> int:
        count = len(self.times)
        if not -count <= index < count:
            raise IndexError(f"there is no frame {index}: {count} frames are there")
        return index % count


def read(folder: str | os.PathLike[str]) -> Results:
    """The results in a folder that `carom run` or :func:`carom.run` has written, or is writing."""
    return Results(Path(folder))
