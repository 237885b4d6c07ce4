"""By hand (CONTRIBUTING.md): change one place of the code at a time, and see whether the tests of its folder notice.

python benchmarks/mutants.py FOUND.csv [EARLIER.csv]

Needs `pip install cosmic-ray`, and a clone of its own, whose code it changes while it runs. It writes a line for each
mutant; stopped, it goes on where it was. With an earlier file it tries the mutants of that file again, wherever their
lines are now, and draws new ones for those whose lines are gone.
"""

from __future__ import annotations

import ast
import csv
import random
import re
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from pathlib import Path

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec

Row = dict[str, str]

DRAWN = {  # how many mutants of which modules
    "affscore/transport/*.py": 34,
    "affscore/recorder/*.py": 40,
    "affscore/network/reduction.py": 7,
    "affscore/network/collect.py": 5,
    "affscore/linear_regions/*.py": 34,
}
IDENTITY = ("file", "definition", "operator", "line", "mutated")
LONGEST = 120  # seconds for a single test: far more than any takes
# Those that cannot fail (`== None`) or can only fail: shifts of numbers, orders of what has none.
SENSELESS = re.compile(
    r"_(Eq_Is|Is_Eq|NotEq_IsNot|IsNot_NotEq|\w+Shift|Is(Not)?_[LG]t\w*|[LG]t\w*_Is(Not)?)$|_(Add|Sub|Mul|\w*Div|Mod|Pow)_Bit"
)


def meaning(source: str) -> str:
    """A module without what no run depends on: annotations, ``strict`` and ``frozen``."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in {"annotation", "returns"}.intersection(node._fields):
            setattr(node, name, None)
        if isinstance(node, ast.keyword) and node.arg in ("strict", "frozen"):
            node.value = ast.Constant(True)
    return ast.dump(tree)


@cache
def mutants_of(path: Path) -> list[MutationSpec]:
    """All mutants of a module."""
    database = WorkDB(":memory:", WorkDB.Mode.create)
    init([path], database, {})
    every = [mutant for item in database.work_items for mutant in item.mutations]
    return [mutant for mutant in every if not SENSELESS.search(mutant.operator_name)]


def identity(mutant: MutationSpec) -> Row | None:
    """What tells a mutant from others, in later states of the code, too; none where it means what the code means."""
    source = mutant.module_path.read_text(encoding="utf-8")
    mutated = mutate_code(source, get_operator(mutant.operator_name)(), mutant.occurrence) or source
    try:
        if meaning(source) == meaning(mutated):
            return None
    except SyntaxError:  # the asterisk of a signature, taken for a product
        return None
    pairs = zip(re.findall(r"\S.*", source), re.findall(r"\S.*", mutated), strict=False)
    lines = next((old, new) for old, new in pairs if old != new)
    operator = mutant.operator_name.removeprefix("core/")
    return dict(zip(IDENTITY, (str(mutant.module_path), mutant.definition_name or "", operator, *lines), strict=True))


def draw(pattern: str, known: list[Row]) -> Iterator[tuple[Row, MutationSpec]]:
    """Unknown mutants in an order by chance: a place in the modules, then one of its mutants."""
    places: dict[object, list[MutationSpec]] = {}
    for mutant in (mutant for path in sorted(Path().glob(pattern)) for mutant in mutants_of(path)):
        places.setdefault((mutant.module_path, mutant.start_pos), []).append(mutant)
    chance = random.Random(pattern)
    for place in chance.sample(list(places.values()), len(places)):
        row = identity(mutant := chance.choice(place))
        if row and row not in known:
            known.append(row)
            yield row, mutant


def again(earlier: Row) -> tuple[Row, MutationSpec] | None:
    """An earlier mutant, in its file or in a definition of the same name."""
    found = []
    for path in sorted(Path("affscore").rglob("*.py")):
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        for mutant in mutants_of(path) if earlier["line"] in lines else []:
            if lines[mutant.start_pos[0] - 1] == earlier["line"] and (row := identity(mutant)):
                same = [row[name] == earlier[name] for name in IDENTITY]
                if all(same[2:]) and any(same[:2]):
                    found.append((same[1], same[0], row, mutant))
    return max(found, key=lambda each: each[:2])[2:] if found else None


def tried(mutant: MutationSpec) -> Row:
    """Whether the tests of its folder notice, those first that are named like the module, and which one did."""
    path, folder = mutant.module_path, mutant.module_path.parts[1]
    names = [f"test_{path.parent.name}", f"test_{path.stem}"]
    folders = ["recorder", "network"] if folder == "recorder" else [folder]
    tests = [test for one in folders for test in sorted(Path("tests/affscore", one).rglob("test_*.py"))]
    tests.sort(key=lambda test: test.stem not in names)
    command = [sys.executable, *"-m pytest -x -q --tb=no -p no:cacheprovider -o faulthandler_exit_on_timeout=1".split()]
    command += ["-o", f"faulthandler_timeout={LONGEST}", "-m", "not slow and not notebook and not browser"]
    start = time.monotonic()
    result = mutate_and_test([mutant], shlex.join([*command, *map(str, tests), f"affscore/{folder}"]), 30 * LONGEST)
    seconds = time.monotonic() - start
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", result.output or "", re.MULTILINE)
    outcome = "timeout" if result.is_killed and not failed and seconds > LONGEST else str(result.test_outcome.value)
    return {"outcome": outcome, "seconds": f"{seconds:.0f}", "by": failed[1] if failed else ""}


def main(found: str, earlier: str = "") -> None:
    """Try each mutant that the file has not got yet."""
    read = [Path(name).read_text().splitlines() if Path(name).is_file() else [] for name in (earlier, found)]
    before, done = (list(csv.DictReader(lines)) for lines in read)
    kept = [(row, pair) for row in before if (pair := again(row))]
    queue = [pair for _, pair in kept]
    rows = [row for row, _ in queue]
    for pattern, number in DRAWN.items():
        have = sum(fnmatch(old["file"], pattern) or fnmatch(new["file"], pattern) for old, (new, _) in kept)
        queue += islice(draw(pattern, rows), max(0, number - have))
    with Path(found).open("a", newline="", buffering=1) as file:
        table = csv.DictWriter(file, (*IDENTITY, "outcome", "seconds", "by"))
        if not done:
            table.writeheader()
        for row, mutant in queue:
            if row not in [{name: old[name] for name in IDENTITY} for old in done]:
                done.append(row | tried(mutant))
                table.writerow(done[-1])
    print(Counter(row["outcome"] for row in done))


if __name__ == "__main__":
    main(*sys.argv[1:])
