"""The cases of a suite: what makes a set of them valid, its content address, and the order in which a gate draws them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skillhub.errors import Conflict, Invalid
from skillhub.hashing import sha256_bytes, sha256_json

SPLITS = ("train", "dev", "test", "confirm")
SEED_BITS = 31


@dataclass(frozen=True)
class CaseInput:
    """One task of a suite."""

    key: str
    split: str
    slice: str
    spec: Mapping[str, Any]
    """What the runner needs to start the task; opaque to us."""


def check(cases: Sequence[CaseInput]) -> None:
    """Invalid where a key stands twice, a split is unknown, or one task is in two splits (it would leak)."""
    keys: dict[str, int] = {}
    tasks: dict[str, CaseInput] = {}
    for index, case in enumerate(cases):
        if case.split not in SPLITS:
            raise Invalid(f"{case.split!r} is not a split; known are {', '.join(SPLITS)}", path=f"/cases/{index}/split")
        if case.key in keys:
            raise Invalid(f"case {case.key!r} stands twice", path=f"/cases/{index}/key")
        keys[case.key] = index
        twin = tasks.setdefault(sha256_json(case.spec), case)
        if twin.split != case.split:
            why = f"cases {twin.key!r} ({twin.split}) and {case.key!r} ({case.split}) are the same task in two splits"
            raise Invalid(why, path=f"/cases/{index}/spec")


def check_kept(stored: Iterable[CaseInput], sent: Iterable[CaseInput]) -> None:
    """Conflict where a stored case would change or vanish: gates have registered it."""
    new = {case.key: case for case in sent}
    for case in stored:
        if case.key not in new:
            raise Conflict(f"case {case.key!r} is stored and cannot be dropped")
        if asdict(new[case.key]) != asdict(case):
            raise Conflict(f"case {case.key!r} is stored with other content and cannot be changed")


def content_sha256(cases: Iterable[CaseInput]) -> str:
    """Content address of a suite; the order of the cases does not matter."""
    return sha256_json([asdict(case) for case in sorted(cases, key=lambda case: case.key)])


def shuffled(keys: Iterable[str], *, seed: str) -> list[str]:
    """Keys in an order that depends on the seed alone."""
    return sorted(keys, key=lambda key: (sha256_bytes(f"{seed}:{key}".encode()), key))


def pair_seed(seed: str, key: str, *, rerun: int) -> int:
    """Seed that both trials of a pair share, in [0, 2^31); the first run of a case has `rerun` 0."""
    return int(sha256_bytes(f"{seed}/{key}/{rerun}".encode())[:16], 16) % (1 << SEED_BITS)


def next_case(cases: Mapping[str, Sequence[str]], *, used: Iterable[str], wanted: Iterable[str]) -> tuple[str, str] | None:
    """`(slice, key)` of the next pair: of the wanted slices the one of which the smallest share was used; None where all are.

    `cases` has for each slice its keys in order; a key that stands there three times can be used three times.
    """
    taken = Counter(used)
    left = {name: _left(cases[name], taken) for name in wanted}
    open_slices = [name for name, keys in left.items() if keys]
    if not open_slices:
        return None
    name = max(open_slices, key=lambda name: len(left[name]) / len(cases[name]))
    return name, left[name][0]


def _left(keys: Sequence[str], taken: Mapping[str, int]) -> list[str]:
    seen: Counter[str] = Counter()
    rest = []
    for key in keys:
        seen[key] += 1
        if seen[key] > taken[key]:
            rest.append(key)
    return rest
