"""Decks on their way in: a path, the name of an example, text, or a dict."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import _carom

Deck = Union[str, os.PathLike[str], Mapping[str, Any]]


def find(deck: Deck) -> tuple[str, str, Path, str]:
    """What it is called in messages, its text, where its paths begin, and a name for its results."""
    if isinstance(deck, Mapping):
        return "deck", to_toml(deck), Path("."), "deck"
    if isinstance(deck, str) and ("\n" in deck or "=" in deck):
        return "deck", deck, Path("."), "deck"
    path = Path(deck)
    if not path.exists() and isinstance(deck, str):
        for name, text in _carom.examples():
            if name == deck:
                return f"example {name}", text, Path("."), name
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a deck")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        names = ", ".join(name for name, _ in _carom.examples())
        raise FileNotFoundError(f"there is no deck {path}; built-in examples are {names}") from None
    except UnicodeDecodeError as error:
        raise _carom.DeckError(f"{path}: byte {error.start} is not UTF-8; save the deck as UTF-8 text") from None
    stem = path.stem if path.stem != "deck" else path.resolve().parent.name
    return str(path), text, path.parent, stem


def key(name: object) -> str:
    text = str(name)
    plain = text and all(c.isascii() and (c.isalnum() or c in "_-") for c in text)
    return text if plain else value(text)


def value(x: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if isinstance(x, (float, np.floating)):
        number = repr(float(x))
        return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(number, number)
    if isinstance(x, (str, os.PathLike)):
        plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
        code = lambda c: plain.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}")  # noqa: E731
        return '"' + "".join(map(code, os.fspath(x))) + '"'
    if isinstance(x, np.ndarray):
        return value(x.tolist())
    if isinstance(x, Mapping):
        return "{ " + ", ".join(f"{key(k)} = {value(v)}" for k, v in x.items()) + " }"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(value, x)) + "]"
    raise TypeError(f"a deck holds numbers, text, lists and dicts, not {type(x).__name__}")


def to_toml(deck: Mapping[str, Any]) -> str:
    """A deck as text: one table for each section and each thing in it, so that messages point at a line."""
    lines = [f"{key(k)} = {value(v)}" for k, v in deck.items() if not _is_table(v)]
    for name, section in deck.items():
        if isinstance(section, Mapping):
            plain = {k: v for k, v in section.items() if not isinstance(v, Mapping)}
            if plain or not section:
                lines += ["", f"[{key(name)}]", *(f"{key(k)} = {value(v)}" for k, v in plain.items())]
            for part, table in section.items():
                if isinstance(table, Mapping):
                    lines += ["", f"[{key(name)}.{key(part)}]"]
                    lines += [f"{key(k)} = {value(v)}" for k, v in table.items()]
        elif _is_table(section):
            for table in section:
                lines += ["", f"[[{key(name)}]]", *(f"{key(k)} = {value(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _is_table(x: Any) -> bool:
    tables = isinstance(x, (list, tuple)) and len(x) > 0 and all(isinstance(v, Mapping) for v in x)
    return isinstance(x, Mapping) or tables


def options(changes: Mapping[str, Any] | None) -> list[str]:
    """`path=value` for each change: values as TOML, paths as dotted keys."""
    return [f"{path}={value(v)}" for path, v in (changes or {}).items()]
