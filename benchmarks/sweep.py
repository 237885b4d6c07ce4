"""By hand (CONTRIBUTING.md): calls and widths of a network of every family, by a signature and by plain forward hooks.

    python benchmarks/sweep.py                      # all that results/sweep.csv does not hold yet
    python benchmarks/sweep.py timm:vgg mixtral     # these, anew

The smallest network of a family, with random weights, goes through affscore and, by itself, under hooks on its
activation modules. A row says whether both agree on the calls of these modules, their order and their widths; what
affscore saw beyond them (activations that are functions, or modules of the network's own classes) is counted apart. A
family that cannot be built, a network that takes longer than the limit and one that ends its process are rows, too.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
import measuring
import plain_hooks
import tiny_networks
from plain_hooks import Seen
from tiny_networks import Built

import affscore

COLUMNS = "library family network inputs hooked calls beyond widths agreement seconds note affscore_notes".split()
SAMPLES = 4

EXPLAINED: dict[str, str] = {
    "transformers:afmoe": "an expert that fewer than two samples reach has no row",
    "transformers:fastspeech2_conformer": "it predicts how long each sample is, and pads a batch to the longest",
    "transformers:lightglue": "it finds as many keypoints as a sample has",
    "transformers:llama4": "its router gives minus infinity to the experts that it does not choose",
    "transformers:switch_transformers": "experts stand in the order of all samples, which is that of none",
}
"""Why a network disagrees, where this cannot be computed: by library and family."""


def families() -> dict[tuple[str, str], list[Callable[[], Built]]]:
    """By library and family what builds its network, in the order of the table: the first that can be built counts."""
    found: dict[tuple[str, str], list[Callable[[], Built]]] = {}
    for family in tiny_networks.timm_families():
        found["timm", family] = [lambda family=family: tiny_networks.build_timm(family, SAMPLES)]  # type: ignore[misc]
    for family, kinds in sorted(tiny_networks.transformers_families().items()):
        found["transformers", family] = [
            lambda kind=kind: tiny_networks.build_transformers(kind, SAMPLES)  # type: ignore[misc]
            for kind in kinds
        ]
    return found


def row_of(builders: list[Callable[[], Built]]) -> dict[str, Any]:
    """The row of a family: its first network that can be built, measured."""
    failures = []
    for build in builders:
        try:
            built = build()
        except Exception as error:  # noqa: BLE001  # the code of others
            failures.append(f"{type(error).__name__}: {error}")
        else:
            return {"network": built.name, "inputs": "+".join(built.batch), **compared(built)}
    return {"agreement": "not built", "note": short(" / ".join(failures), 300)}


def compared(built: Built) -> dict[str, Any]:
    """What hooks and affscore say of a network."""
    seen = plain_hooks.calls_of(built.network, built.batch)
    other = plain_hooks.calls_of(built.network, {name: _other(name, value) for name, value in built.batch.items()})
    constant = {(one.layer, one.call) for one, two in zip(seen, other, strict=False) if one.sum == two.sum}
    start = time.perf_counter()
    try:
        measured = affscore.signature(
            built.network, built.batch, n=SAMPLES, criteria=False, progress=False, device="cpu", data_name="sweep"
        )
    except affscore.AffscoreError as error:
        nothing = len(seen) == len(constant) and "no elementwise activation" in str(error)
        row = {"calls": 0, "agreement": "yes" if nothing else "refused", "note": short(str(error), 400)}
        return {"hooked": len(seen), **row, "seconds": round(time.perf_counter() - start, 2)}
    seconds = round(time.perf_counter() - start, 2)
    table = measured.summary
    rows = [(str(r.layer), int(r.call), int(r.width)) for r in table.itertuples()]
    layers = {name for name, module in built.network.named_modules() if plain_hooks.is_activation(module)}
    beyond = Counter(table["activation"][[row[0] not in layers for row in rows]])
    agreement, note = judged(seen, constant, [row for row in rows if row[0] in layers], [row[0] for row in rows])
    return {
        "hooked": len(seen),
        "calls": sum(row[0] in layers for row in rows),
        "beyond": " ".join(f"{name}:{count}" for name, count in sorted(beyond.items())),
        "widths": " ".join(f"{width}x{count}" for width, count in sorted(Counter(row[2] for row in rows).items())),
        "agreement": agreement,
        "seconds": seconds,
        "note": note,
        "affscore_notes": short(" | ".join(note for note in measured.notes if "in a batch" not in note), 400),
    }


def judged(
    seen: list[Seen], constant: set[tuple[str, int]], rows: list[tuple[str, int, int]], layers: list[str]
) -> tuple[str, str]:
    """Whether the rows of the hooked modules are what hooks saw, and where they are not.

    Two kinds of missing calls are explained: those that see nothing of the network's input, and those that are part of
    a formula, which is a row of a module around them. And calls of experts that share a module and run in one call in a
    batch; and widths that hooks can only guess: heads apart from features.
    """
    counted = Counter(row[0] for row in rows)
    unmoved = [
        one for one in seen if (one.layer, one.call) in constant and counted[one.layer] < _calls(seen, one.layer)
    ]
    wanted = _numbered([one for one in seen if one not in unmoved])
    found = {(layer, call): width for layer, call, width in rows}
    missing, surplus = [key for key in wanted if key not in found], [key for key in found if key not in wanted]
    # samples go one at a time there, and experts one by one, where the hooks' batch has them in one call
    first = {layer: one.width for (layer, call), one in wanted.items() if call == 0 and "expert" in layer}
    experts = [key for key in surplus if first.get(key[0]) == found[key]]
    surplus = [key for key in surplus if key not in experts]
    around = set(layers) - {one.layer for one in seen}
    merged = [key for key in missing if (key[0].rpartition(".")[0] or "(root)") in around]
    missing = [key for key in missing if key not in merged]
    both = [key for key in wanted if key in found]
    other = [key for key in both if found[key] != wanted[key].width]
    unknown, widths = ([key for key in other if wanted[key].guessed is guessed] for guessed in (True, False))
    explained = [
        f"{len(unmoved)} calls see nothing of the input" if unmoved else "",
        f"{len(merged)} calls are part of a formula of the module around them" if merged else "",
        f"{len(experts)} calls more, of experts that run one by one" if experts else "",
        f"{_other_width(wanted, found, unknown)}, which no layer made or takes: a guess" if unknown else "",
    ]
    unexplained = [
        f"{len(missing)} calls are missing, first {_place(missing[0])}" if missing else "",
        f"{len(surplus)} calls that no hook saw, first {_place(surplus[0])}" if surplus else "",
        _other_width(wanted, found, widths) if widths else "",
        "the calls come in another order" if both != [key for key in found if key in wanted] else "",
    ]
    note = "; ".join(filter(None, explained + unexplained))
    return "no" if any(unexplained) else "explained" if note else "yes", note


def _calls(seen: list[Seen], layer: str) -> int:
    return sum(one.layer == layer for one in seen)


def _numbered(seen: list[Seen]) -> dict[tuple[str, int], Seen]:
    """By layer and call, counted anew for each layer."""
    calls: Counter[str] = Counter()
    found = {}
    for one in seen:
        found[one.layer, calls[one.layer]] = one
        calls[one.layer] += 1
    return found


def _place(key: tuple[str, int]) -> str:
    return f"call {key[1]} of {key[0]}"


def _other_width(wanted: dict[tuple[str, int], Seen], found: dict[tuple[str, int], int], keys: list[Any]) -> str:
    seen, first = wanted[keys[0]], f"{len(keys)} other widths, first {_place(keys[0])}: {found[keys[0]]}"
    return f"{first}, by hooks {seen.width} of {'x'.join(map(str, seen.shape))}"


def _other(name: str, value: torch.Tensor) -> torch.Tensor:
    """Other numbers that a network takes as well."""
    if value.is_floating_point():
        return 1.3 * value.flip(-1) + 0.1
    return value.max() + value.min() - value if name.endswith("input_ids") else value


def short(text: str, length: int) -> str:
    """A text on one line, cut."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 3] + "..."


def in_a_process(builders: list[Callable[[], Built]], limit: float) -> dict[str, Any]:
    """The row of a family, measured in a process of its own, which may take so many seconds."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(builders, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            process.kill()
            return {"agreement": "too slow", "note": f"too slow, {limit:g} s"}
        return dict(receiver.recv())
    except EOFError:
        process.join()
        return {"agreement": "ended", "note": f"the process ended with {process.exitcode}"}
    finally:
        process.join()


def _send(builders: list[Callable[[], Built]], sender: Connection) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # the threads of the process that was forked are not in this one
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        row = row_of(builders)
    except Exception as error:  # noqa: BLE001  # an error is a row, too
        row = {"agreement": "error", "note": short(f"{type(error).__name__}: {error}", 400)}
    sender.send(row)


def read(file: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of an earlier run, by library and family."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {(row["library"], row["family"]): row for row in csv.DictReader(lines)}


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    """The table, whole or not at all."""
    part = file.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(file)


def main() -> None:
    """Measure what is missing or asked for, write a row at a time, and say how many agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help="FAMILY, LIBRARY:FAMILY or LIBRARY, anew; else all missing")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a network")
    parser.add_argument("--out", type=Path, default=measuring.RESULTS / "sweep.csv")
    options = parser.parse_args()
    torch.set_num_threads(1)  # a process that is forked has no threads
    os.environ["HF_HUB_OFFLINE"] = "1"
    everything, done = families(), read(options.out)
    for (library, family), builders in everything.items():
        asked = {library, family, f"{library}:{family}"} & set(options.families)
        if asked or (not options.families and (library, family) not in done):
            row = {"library": library, "family": family, **in_a_process(builders, options.limit)}
            if row["agreement"] in ("no", "refused") and (why := EXPLAINED.get(f"{library}:{family}")):
                row |= {"agreement": "explained", "note": f"{row['note']}: {why}"}
            done = {**read(options.out), (library, family): row}
            write(options.out, [done[key] for key in everything if key in done])
            print(f"{library}:{family:28s} {row['agreement']:10s} {row.get('note', '')}", flush=True)
    print(dict(Counter((row["library"], row["agreement"]) for row in done.values())))


if __name__ == "__main__":
    main()
