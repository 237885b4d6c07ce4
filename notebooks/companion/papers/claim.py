"""A claim of the papers in words, with the function that decides it, and the verdict of that function."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pandas as pd

import companion.papers
from companion.analysis.decisions import Decision
from companion.analysis.estimates import CHANCE, MissingResultsError, require
from companion.papers.results import Results

HOLDS, DOES_NOT_HOLD, UNDECIDED = "holds", "does not hold", "cannot be decided"
DEPENDS = "depends on a choice"
WORDS = (HOLDS, DOES_NOT_HOLD, UNDECIDED, DEPENDS)
"""The verdicts of rows, as they are counted."""

STUDY_ON_IMAGENET = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"
ON_IMAGENET = "of torchvision on ImageNet (affscore survey --datasets imagenet:data/imagenet --store results)"
"""What many claims need."""


@dataclass(frozen=True)
class Verdict:
    """What the test of a claim says on some results.

    Attributes:
        holds: Whether the claim holds on these results; None where they are compatible with both.
        found: A sentence with the numbers that decided; of an undecided claim it ends with the smallest effects that
            would have been seen.
        n: How many independent units these are of.
        units: What these are.
    """

    holds: bool | None
    found: str
    n: int = 0
    units: str = "networks"

    @classmethod
    def all_of(cls, parts: Mapping[str, Decision], of: str = "", n: int = 0, units: str = "networks") -> Verdict:
        """The verdict on a claim that holds if all of its parts do (an intersection-union test).

        It holds where each part is decided at 5 %. It does not where a part is decided the other way round: some part
        of several may be so by chance, so each at 5 % over their number (Bonferroni).

        Args:
            parts: What the test of each part says, by its name.
            of: What all parts are of.
            n: As above; unless given the most that a part has.
            units: As above.

        >>> mean, spread = Decision("0.9", True, 0.04, 5), Decision("0.1", True, 0.2, 5, "0.2 would have been seen")
        >>> Verdict.all_of({"mean": mean, "spread": spread}).found
        'mean 0.9, spread 0.1. Undecided: spread (0.2 would have been seen).'
        """
        require(parts)
        strict = CHANCE / len(parts)
        fails = any(part.at(strict) is False for part in parts.values())
        holds = False if fails else True if all(part.at() for part in parts.values()) else None
        found = (of and f"{of}: ") + ", ".join(f"{name} {part.shown}" for name, part in parts.items()) + "."
        if holds is None:
            wrong = f"the other way round at 5 %, and not at {100 * strict:.2g} %"
            why = {name: part.seen if part.at() is None else wrong for name, part in parts.items() if not part.at()}
            found += f" Undecided: {'; '.join(f'{name} ({words})' if words else name for name, words in why.items())}."
        return cls(holds, found, n or max(part.n for part in parts.values()), units)

    @property
    def word(self) -> str:
        """One of "holds", "does not hold" and "cannot be decided"."""
        return {True: HOLDS, False: DOES_NOT_HOLD, None: UNDECIDED}[self.holds]


@dataclass(frozen=True)
class Claim:
    """Something that the papers say in words.

    Attributes:
        source: Where it stands.
        needs: What it takes to decide it, for the reader of an undecided one.
        name: A short name: that of the test.
        text: What the papers say, in our words.
        test: When we call it true, in one sentence; empty where nothing tests it yet.
        test_on: The test: it gives a verdict, or raises :class:`~companion.analysis.MissingResultsError`.
        of_scores: Whether affinity scores decide it, which depend on how they are measured: it is asked again then.
    """

    source: str
    needs: str
    name: str
    text: str
    test: str
    test_on: Callable[[Results], Verdict]
    of_scores: bool = True

    def decide(self, results: Results) -> Verdict | None:
        """The verdict on some results; None where these have nothing to say of the claim.

        Args:
            results: Of one kind.
        """
        try:
            return self.test_on(results)
        except MissingResultsError:
            return None


def claim(source: str, needs: str, of_scores: bool = True) -> Callable[[Callable[[Results], Verdict]], Claim]:
    """Make a claim of its test; the ledger finds the claims of every module of a paper.

    The docstring of the test is what the claim says, in our words, and after "Test:" when we call it true.

    Args:
        source: As of :class:`Claim`.
        needs: The same.
        of_scores: The same.

    >>> @claim("section 4", "nothing")
    ... def all_is_well(results: Results) -> Verdict:
    ...     '''All is well.
    ...
    ...     Test: It is.
    ...     '''
    ...     return Verdict(True, "It is.")
    >>> all_is_well.name, all_is_well.text, all_is_well.test, all_is_well.decide(Results("nothing")).holds
    ('all-is-well', 'All is well.', 'It is.', True)
    """

    def claim_of(test_on: Callable[[Results], Verdict]) -> Claim:
        text, _, test = " ".join((test_on.__doc__ or "").split()).partition(" Test: ")
        return Claim(source, needs, test_on.__name__.replace("_", "-"), text, test, test_on, of_scores)

    return claim_of


@cache
def sections() -> tuple[ModuleType, ...]:
    """The modules of the papers' sections, paper by paper, each paper's appendices after its sections.

    >>> [module.__name__.rpartition(".")[2] for module in sections()][:2]
    ['section_4_accuracy', 'section_4_criteria']
    """
    found = [
        one.name
        for one in pkgutil.walk_packages(companion.papers.__path__, "companion.papers.")
        if one.name.count(".") == 3
    ]
    ordered = sorted(found, key=lambda name: (name.split(".")[2], ".appendix" in name, name))
    return tuple(import_module(name) for name in ordered)


@cache
def all_claims() -> tuple[Claim, ...]:
    """The claims of all papers, section by section; last the statements that nothing tests yet (``untested.csv``)."""

    def nothing(results: Results) -> Verdict:
        raise MissingResultsError

    found = (one for module in sections() for one in vars(module).values() if isinstance(one, Claim))
    table = pd.read_csv(Path(__file__).with_name("untested.csv")).itertuples(index=False)
    untested = (Claim(source, needs, name, text, "", nothing, False) for source, name, text, needs in table)
    return (*dict.fromkeys(found), *untested)
