"""Studies: one deck, some of its values varied, run by an executor of your choice.

An executor is anything with `submit(function, *arguments)` that gives something with `result()`: those of
`concurrent.futures`, Dask's client, Ray's (through `ray.util.multiprocessing`), … The folder is that of `carom study`: runs that
have finished are left alone, those that were begun go on, and `study.csv` has one row for each.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import _carom, _deck
from ._deck import Deck
from ._results import Results, read
from ._simulation import Simulation

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
        return [read(self.folder / name) for name, *_ in self._inner.members()]

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


def run_one(name: str, text: str, folder: str, options: list[str], out: str, threads: int) -> str:
    """Runs one member of a study, or takes it up; an empty string, or why it failed. Runs wherever the executor says."""
    begun = (Path(out) / "summary.json").exists()
    settings = {
        "set": options,
        "out": Path(out),
        "before": "resume" if begun else "keep",
        "threads": threads,
        "loads": [],
        "checkpoint": None,
    }
    try:
        Simulation(name, text, Path(folder), settings).run()
    except _carom.SimulationError as error:
        return str(error)
    return ""


def study(
    deck: Deck,
    vary: Mapping[str, Iterable[Any]],
    *,
    out: str | os.PathLike[str],
    set: Mapping[str, Any] | None = None,
    zip: bool = False,
    executor: Executor | None = None,
    threads: int = 1,
) -> Study:
    """Runs a deck with all combinations of values, `{"step.safety": [0.5, 0.9], …}`, or with the first of each, the second of each, …
    if `zip`. `threads` are those of one run; without an executor as many runs go on at once as there are cores for them.
    """
    name, text, folder, _ = _deck.find(deck)
    varied = [(path, [_deck.value(v) for v in values]) for path, values in vary.items()]
    inner = _carom.Study(name, text, folder, _deck.options(set), varied, zip, Path(out))
    at = str(folder.resolve())
    calls = [
        (name, text, at, options, str(Path(out).resolve() / member), threads)
        for member, _, options in inner.members()
        if not _finished(Path(out) / member)
    ]
    if executor is None:
        with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // threads)) as own:
            outcome = [own.submit(run_one, *call) for call in calls]
            told = [future.result() for future in outcome]
    else:
        outcome = [executor.submit(run_one, *call) for call in calls]
        told = [future.result() for future in outcome]
    failures = {Path(calls[k][4]).name: words for k, words in enumerate(told) if words}
    return Study(inner, failures)


def _finished(folder: Path) -> bool:
    try:
        return read(folder).summary["status"] == "finished"
    except (FileNotFoundError, ValueError):
        return False
