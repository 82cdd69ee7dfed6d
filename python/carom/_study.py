"""Studies: one deck, some of its values varied, run by an executor of your choice.

An executor is anything with `submit(function, *arguments)` that gives something with `result()`: those of
`concurrent.futures`, Dask's client, Ray's tasks behind a class of two lines (guide/python.md), … The folder is that of `carom study`:
runs that have finished are left alone, those that were begun go on, and `study.csv` has one row for each.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import _carom, _deck
from ._deck import Deck
from ._results import Results, read

if TYPE_CHECKING:
    import pandas


class Executor(Protocol):
    def submit(self, function: Any, /, *arguments: Any) -> Any: ...


class Study:
    """What has become of a study."""

    def __init__(self, inner: _carom.Study, failures: dict[str, str]):
        self._inner = inner
        #: Runs that failed, and why.
        self.failures = failures
        self.files = [Path(f) for f in inner.collect()]

    @property
    def folder(self) -> Path:
        return Path(self._inner.folder)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of `study.csv`: inputs, outcome, warnings; numbers as numbers."""
        with open(self.folder / "study.csv", newline="", encoding="utf-8") as file:
            return [{name: _number(text) for name, text in row.items()} for row in csv.DictReader(file)]

    @property
    def runs(self) -> list[Results]:
        """The folders of the runs, in the order of the rows."""
        return [read(self.folder / name) for name in self._inner.members()]

    def to_pandas(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame(self.rows)

    def __repr__(self) -> str:
        return f"<carom.Study of {len(self._inner.members())} runs in {self.folder}>"


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def run_one(asked: tuple[Any, ...], number: int, threads: int) -> str | None:
    """Runs one member of a study, or takes it up; says why it failed, if it did. Runs wherever the executor says."""
    return _carom.Study(*asked).run_member(number, threads)


def study(
    deck: Deck,
    vary: Mapping[str, Iterable[Any]],
    *,
    out: str | os.PathLike[str],
    set: Mapping[str, Any] | None = None,
    zip: bool = False,
    executor: Executor | None = None,
    threads: int | None = None,
) -> Study:
    """Runs a deck with all combinations of values, `{"step.safety": [0.5, 0.9], …}`, or with the first of each, the second of each, …
    if `zip`. Without an executor `threads` are those of the whole study, all cores unless told, and as many runs go on at once; with
    one they are those of each run, one unless told.
    """
    name, text, folder, _ = _deck.find(deck)
    varied = [(path, [_deck.value(v) for v in values]) for path, values in vary.items()]
    asked = (name, text, folder.resolve(), _deck.options(set), varied, zip, Path(out).resolve())
    inner = _carom.Study(*asked)
    if executor is None:
        return Study(inner, dict(inner.run(threads or os.cpu_count() or 1)))
    left = inner.begin(threads or 1)
    futures = [(number, executor.submit(run_one, asked, number, threads or 1)) for number in left]
    names = inner.members()
    told = [(names[number], future.result()) for number, future in futures]
    return Study(inner, {run: why for run, why in told if why is not None})
