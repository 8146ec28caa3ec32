"""Promises 6 and 7: versions are immutable and their numbers unique; a label moves atomically."""

import os
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from skillhub.services import labels, skills, versions
from skillhub.services.scope import Scope
from tests import chain

PUBLISHERS, EACH = 16, 50
READERS = 8
FLIP_SECONDS = float(os.environ.get("SKILLHUB_FLIP_SECONDS", "5"))
"""The full load of promise 7 is 60."""


def document(text: str) -> str:
    return f"---\nname: boil-water\ndescription: Boil water.\n---\n\n# Boil\n\n{text}\n"


@pytest.fixture
def published(scope: Scope) -> Scope:
    versions.create(scope, name="boil-water", kind="skill", document=document("First."))
    return scope


def test_6_sixteen_publishers_leave_no_gap_and_no_duplicate(published: Scope) -> None:
    def publish(publisher: int) -> list[int]:
        texts = (document(f"By {publisher}, the {turn}.") for turn in range(EACH))
        return [versions.publish(published, name="boil-water", document=text).version.number for text in texts]

    with ThreadPoolExecutor(PUBLISHERS) as pool:
        told = [number for numbers in pool.map(publish, range(PUBLISHERS)) for number in numbers]
    with published.transaction() as unit:
        stored = sorted(unit.session.execute(sa.text("SELECT number FROM version")).scalars())
        broken = chain.first_broken(unit.session, published.workspace_id)
    duplicates = sum(count - 1 for count in Counter(told).values())
    gaps = len(set(range(1, PUBLISHERS * EACH + 2)) - set(stored))
    print(f"\n{PUBLISHERS} publishers x {EACH}: {len(told)} versions, {gaps} gaps, {duplicates} duplicates")
    assert stored == list(range(1, PUBLISHERS * EACH + 2))
    assert (sorted(told), broken) == (stored[1:], None)


@pytest.mark.parametrize("table", ["version", "version_file", "version_parent", "event"])
@pytest.mark.parametrize("change", ["UPDATE {} SET workspace_id = workspace_id", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_6_what_was_published_cannot_be_changed_as_the_application(published: Scope, table: str, change: str) -> None:
    with pytest.raises(DBAPIError, match=r"immutable|permission denied"), published.transaction() as unit:
        unit.session.execute(sa.text(change.format(table)))
    assert skills.get(published, "boil-water").latest.version.number == 1


def test_7_a_reader_of_a_label_that_moves_sees_the_old_or_the_new_place(published: Scope) -> None:
    versions.publish(published, name="boil-water", document=document("Second."))
    over = threading.Event()

    def read() -> Counter:
        seen: Counter = Counter()
        while not over.is_set():
            label, version = labels.get(published, name="boil-water", label="production")
            seen[version.number if version.id == label.version_id else "torn"] += 1
        return seen

    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read) for _ in range(READERS)]
        flips = _flip(published, seconds=FLIP_SECONDS)
        over.set()
        seen = sum((reader.result() for reader in readers), Counter())
    print(f"\n{flips} moves of a label in {FLIP_SECONDS:.0f} s under {READERS} readers: {seen.total()} reads, {dict(seen)}")
    assert flips > 10
    assert set(seen) == {1, 2}


def _flip(scope: Scope, *, seconds: float) -> int:
    """Move the label there and back until the time is up; returns how often."""
    ends, moved = time.monotonic() + seconds, labels.get(scope, name="boil-water", label="production")[0]
    first = moved.revision
    while time.monotonic() < ends:
        number = 1 + moved.revision % 2
        moved, _ = labels.move(scope, name="boil-water", label="production", number=number, revision=moved.revision)
    return moved.revision - first
