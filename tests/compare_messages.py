#!/usr/bin/env python3
"""Spoils decks one thing at a time and compares what two programs say about them.

    compare_messages.py REFERENCE NEW [--decks FOLDER] [--every N] [--jobs N]

Every value of every example of FOLDER (those of the project unless told otherwise) is replaced by things that it cannot be, left out,
and its key misspelt; both programs `check` the same file. Compared are exit status and message, with what may differ left out: lists
of keys, which grow, and suggestions, which follow them. Each kind of difference is printed once with its count. Exit status 0
only if nothing differs but in words that are listed.
"""
import argparse, collections, concurrent.futures, pathlib, re, subprocess, sys, tempfile, tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRONG = ["word", -1, 0, 1.5, True, [], [1], {}]


def written(value):
    """A value of a deck as text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key(k)} = {written(v)}" for k, v in value.items()) + " }"
    return repr(value)


def key(name):
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else written(name)


def deck(tree):
    """A deck with one line for every key of the first two levels, so that places are told alike."""
    plain = [f"{key(k)} = {written(v)}\n" for k, v in tree.items() if not isinstance(v, dict)]
    tables = [f"[{key(k)}]\n" + "".join(f"{key(n)} = {written(v)}\n" for n, v in t.items())
              for k, t in tree.items() if isinstance(t, dict)]
    return "".join(plain + tables)


def spoilt(tree, top=None):
    """The tree with one thing wrong, in every way; `top` is the whole of it."""
    top = top or tree
    for name in list(tree if isinstance(tree, dict) else range(len(tree))):
        value = tree[name]
        for wrong in WRONG:
            tree[name] = wrong
            yield deck(top)
        tree[name] = value
        if isinstance(tree, dict):
            del tree[name]
            yield deck(top)
            tree[name + "x"] = value
            yield deck(top)
            del tree[name + "x"]
            tree[name] = value
        if isinstance(value, (dict, list)):
            yield from spoilt(value, top)


def said(program, path):
    done = subprocess.run([program, "check", path], capture_output=True, text=True, timeout=60)
    first = done.stderr.strip().split("\n\n")[0]
    return done.returncode, first


def kind(text):
    """A message without names, numbers, lists of keys and the excerpt of the deck."""
    text = "\n".join(l for l in text.splitlines() if not re.match(r"\s*(\d+ )?[│|]|\s*-->", l))
    text = re.sub(r"`[^`]*`", "`…`", text)
    text = re.sub(r"(`…`, )+`…` (and|or) `…`", "`…`", text)
    return re.sub(r"-?\d[\d.e+-]*", "#", text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("reference")
    arguments.add_argument("new")
    arguments.add_argument("--decks", default=ROOT / "examples", type=pathlib.Path)
    arguments.add_argument("--every", default=1, type=int, help="only every Nth deck")
    arguments.add_argument("--jobs", default=2, type=int)
    options = arguments.parse_args()
    decks = dict.fromkeys(text for path in sorted(options.decks.rglob("*.toml")) for text in spoilt(tomllib.loads(path.read_text())))
    decks = list(decks)[:: options.every]
    differences = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        def both(at):
            path = pathlib.Path(folder) / f"{at}.toml"
            path.write_text(decks[at])
            answers = [said(program, path) for program in (options.reference, options.new)]
            path.unlink()
            return [(code, kind(text)) for code, text in answers]

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for before, after in pool.map(both, range(len(decks))):
                if before != after:
                    differences[before, after] += 1
    for (before, after), count in differences.most_common():
        print(f"{count} times\n  before ({before[0]}) {before[1]}\n  after  ({after[0]}) {after[1]}\n")
    print(f"{len(decks)} decks, {sum(differences.values())} answered otherwise in {len(differences)} ways")
    return bool(differences)


sys.exit(main())
