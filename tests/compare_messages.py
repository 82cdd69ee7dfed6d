#!/usr/bin/env python3
"""Compares what two programs make of decks: messages about spoilt ones, resolved decks, the schema.

    compare_messages.py REFERENCE NEW [--decks FOLDER] [--every N] [--jobs N]

Every value of every example of FOLDER (those of the project unless told otherwise; take those of the older program) is replaced by things
that it cannot be, left out, and its key misspelt; both programs `check` the same file. Answers are the same to the letter, or but for lists
of names, which grow, and suggestions, which follow them, or they differ: each kind of difference is printed once with its count and an
example. Whole examples are begun by both programs: every value of the reference's resolved deck should be in the new one. Every key of the
reference's schema should be in the new one. Exit status 0 only if nothing but lists differs.
"""
import argparse, collections, concurrent.futures, json, pathlib, re, subprocess, sys, tempfile, tomllib

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
    """Exit status and all that was said, without the name of the file and the lines of the deck, which are clipped where they are long."""
    done = subprocess.run([program, "check", path], capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stderr.strip().replace(str(path), "deck").splitlines() if not re.match(r"\s*\d+ \| ", line)]
    return done.returncode, "\n".join(re.sub(r"^\s*\| +", "  ", re.sub(r"\^{99,}", "^…", line)) for line in lines)


def but_for_lists(text):
    """An answer without lists of names and without suggestions."""
    text = re.sub(r"(`[^`]*`|\"[^\"]*\")((,| and| or|, and|, or) (`[^`]*`|\"[^\"]*\"))+", "`…`", text)
    text = re.sub(r";? ?(did you mean|perhaps) [^\n;]*", "", text)
    return re.sub(r"(known keys|keys) (here )?are [^\n]*", "keys are …", text)


def kind(text):
    """An answer without names and numbers."""
    text = re.sub(r"`[^`]*`", "`…`", but_for_lists(text))
    return re.sub(r"-?\d[\d.e+-]*", "#", text)


def messages(options, decks):
    """Compares answers; says how many differ."""
    same, lists, differences = 0, 0, collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def both(at):
            path = pathlib.Path(folder) / f"{at}.toml"
            path.write_text(decks[at])
            answers = [said(program, path) for program in (options.reference, options.new)]
            path.unlink()
            return answers

        for before, after in pool.map(both, range(len(decks))):
            if before == after:
                same += 1
            elif (before[0], but_for_lists(before[1])) == (after[0], but_for_lists(after[1])):
                lists += 1
            else:
                differences[before[0], kind(before[1]), after[0], kind(after[1])].append((before, after))
    for (_, _, _, _), all in sorted(differences.items(), key=lambda item: -len(item[1])):
        (code, before), (new_code, after) = all[0]
        print(f"{len(all)} times, for example\n  before ({code}) {before}\n  after  ({new_code}) {after}\n")
    differ = len(decks) - same - lists
    print(f"{len(decks)} spoilt decks: {same} answers the same to the letter, {lists} but for lists of names, {differ} otherwise in {len(differences)} ways")
    return differ


def flat(tree, path=""):
    """Values of a deck by their paths."""
    if isinstance(tree, dict):
        return {k: v for name, value in tree.items() for k, v in flat(value, f"{path}.{name}").items()}
    return {path: tree}


def resolved(options):
    """Compares what decks mean: a moment of each is run, and the folder has the deck with every default."""
    differ, count = 0, 0
    for path in sorted(options.decks.rglob("*.toml")):
        end = tomllib.loads(path.read_text()).get("end", 1.0)
        decks = []
        for program in (options.reference, options.new):
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "out"
                words = [program, "run", path, "--quiet", "--out", out, "--set", f"end={end * 1e-6!r}", "--threads", "1"]
                done = subprocess.run(words, capture_output=True, text=True)
                decks.append(flat(tomllib.loads((out / "deck.toml").read_text())) if done.returncode == 0 else done.stderr)
        before, after = decks
        if isinstance(before, str) or isinstance(after, str):
            print(f"{path.parent.name}: {before if isinstance(before, str) else ''}{after if isinstance(after, str) else ''}")
            differ += 1
            continue
        count += len(before)
        for name, value in before.items():
            if name not in after or after[name] != value:
                print(f"{path.parent.name}: {name[1:]} = {value}, now {after.get(name, 'not there')}")
                differ += 1
    print(f"resolved decks: {count} values, {differ} otherwise")
    return differ


def keys(schema):
    """Paths of all keys of a schema."""
    found = set()

    def walk(part, path, seen):
        if not isinstance(part, dict):
            return
        if "$ref" in part and part["$ref"] not in seen:
            target = schema
            for name in part["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            walk(target, path, seen | {part["$ref"]})
        for name, value in part.get("properties", {}).items():
            found.add(f"{path}.{name}")
            walk(value, f"{path}.{name}", seen)
        walk(part.get("additionalProperties"), f"{path}.NAME", seen)
        walk(part.get("items"), f"{path}[]", seen)
        for choice in ("oneOf", "anyOf", "allOf", "then", "else"):
            several = part.get(choice, [])
            for value in several if isinstance(several, list) else [several]:
                walk(value, path, seen)

    walk(schema, "", frozenset())
    return found


def schemas(options):
    before, after = (keys(json.loads(subprocess.run([p, "schema"], capture_output=True, text=True).stdout)) for p in (options.reference, options.new))
    for name in sorted(before - after):
        print(f"the schema has no {name[1:]} any more")
    print(f"schema: {len(before)} keys before, {len(after)} now, {len(before - after)} missing")
    return len(before - after)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("reference")
    arguments.add_argument("new")
    arguments.add_argument("--decks", default=ROOT / "examples", type=pathlib.Path)
    arguments.add_argument("--every", default=1, type=int, help="only every Nth spoilt deck")
    arguments.add_argument("--jobs", default=2, type=int)
    options = arguments.parse_args()
    options.reference, options.new = (str(pathlib.Path(p).resolve()) for p in (options.reference, options.new))
    decks = dict.fromkeys(text for path in sorted(options.decks.rglob("*.toml")) for text in spoilt(tomllib.loads(path.read_text())))
    differ = schemas(options) + resolved(options) + messages(options, list(decks)[:: options.every])
    return bool(differ)


sys.exit(main())
