"""The index equals the database: whatever is published, moved or retired, in whatever order, by whoever follows."""

import random
import threading
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import sqlalchemy as sa

from skillhub.errors import NotFound, Unavailable
from skillhub.models import Embedding, Workspace
from skillhub.retrieval import reader as reader_module
from skillhub.retrieval import state
from skillhub.retrieval.reader import Reader
from skillhub.services import labels, skills, versions
from skillhub.services.scope import Scope
from skillhub.services.search import Searcher

LABELS = ("production", "latest", "canary")


class WordEncoder:
    """Adds up a fixed random vector for each word; counts the texts it was given."""

    def __init__(self, fingerprint: str = "words-1") -> None:
        self.fingerprint = fingerprint
        self.encoded = 0

    def encode(self, texts: list[str]) -> np.ndarray:
        self.encoded += len(texts)
        rows = [sum(self._vector(word) for word in text.lower().split() or [""]) for text in texts]
        return np.stack([row / np.linalg.norm(row) for row in rows]).astype(np.float32)

    @staticmethod
    def _vector(word: str) -> np.ndarray:
        return np.random.default_rng(zlib.crc32(word.strip(".:").encode())).normal(size=32)


@pytest.fixture
def reader(scope: Scope) -> Reader:
    return Reader(scope.database, WordEncoder())


@pytest.fixture
def searcher(reader: Reader) -> Searcher:
    return Searcher(reader, wait_seconds=10)


def publish(scope: Scope, name: str, about: str, *, label: str | None = "production") -> str:
    document = f"---\nname: {name}\ndescription: {about}\n---\n\n# {name}\n\n{about}\n"
    with scope.transaction() as unit:
        return versions.publish_in(unit, name=name, kind="skill", document=document, label=label).id


def head(scope: Scope) -> int:
    with scope.transaction() as unit:
        return unit.record("thing.created", "x")


def found(searcher: Searcher, scope: Scope, query: str, **options) -> list[str]:
    hits = searcher.find(scope, [query], **({"label": "production", "k": 10} | options)).hits[0]
    return [hit.served.skill.name for hit in hits]


IN_SERVICE = """
    SELECT l.version_id FROM label l JOIN skill s ON s.id = l.skill_id WHERE l.name = :label AND s.state = 'published'
"""


def in_database(scope: Scope, label: str) -> set[str]:
    with scope.transaction() as unit:
        return set(unit.session.execute(sa.text(IN_SERVICE), {"label": label}).scalars())


def in_index(reader: Reader, scope: Scope, label: str) -> set[str]:
    return reader.index(scope.workspace_id).served(label)


def test_a_published_skill_is_found_by_its_words_and_its_meaning(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    publish(scope, "grow-plant", "Grow a plant in soil.")
    assert found(searcher, scope, "water on the stove")[0] == "boil-water"
    assert found(searcher, scope, "plant soil")[0] == "grow-plant"


def test_a_retired_skill_is_never_served(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water") == ["boil-water"]
    skills.retire(scope, name="boil-water", reason="harmful")
    assert found(searcher, scope, "water") == []
    assert in_index(searcher.reader, scope, "production") == set()


def test_a_replica_that_is_behind_does_not_serve_a_retired_skill(
    scope: Scope, searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water") == ["boil-water"]
    monkeypatch.setattr(searcher.reader, "wait_for", lambda *args, **options: 1)
    skills.retire(scope, name="boil-water", reason="harmful")
    assert found(searcher, scope, "water") == []
    assert in_index(searcher.reader, scope, "production") != set()


def test_a_new_version_takes_the_place_of_the_old_one(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water") == ["boil-water"]
    new = publish(scope, "boil-water", "Boil water with a lighter.")
    [hit] = searcher.find(scope, ["water"], label="production", k=10).hits[0]
    assert (hit.served.version.id, hit.served.version.number) == (new, 2)


def test_a_search_sees_only_the_label_it_asks_for(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    publish(scope, "grow-plant", "Grow a plant in water.", label="canary")
    assert found(searcher, scope, "water") == ["boil-water"]
    assert found(searcher, scope, "water", label="canary") == ["grow-plant"]
    assert sorted(found(searcher, scope, "water", label="latest")) == ["boil-water", "grow-plant"]


def test_moving_a_label_back_serves_the_old_version_without_computing_it_again(scope: Scope, searcher: Searcher) -> None:
    old = publish(scope, "boil-water", "Boil water on a stove.")
    publish(scope, "boil-water", "Boil water with a lighter.")
    assert found(searcher, scope, "water") == ["boil-water"]
    label, _ = labels.get(scope, name="boil-water", label="production")
    labels.move(scope, name="boil-water", label="production", number=1, revision=label.revision)
    [hit] = searcher.find(scope, ["water"], label="production", k=10).hits[0]
    assert hit.served.version.id == old
    encoded = searcher.reader.encoder.encoded
    other = Searcher(Reader(scope.database, searcher.reader.encoder), wait_seconds=10)
    assert found(other, scope, "water") == ["boil-water"]
    assert searcher.reader.encoder.encoded == encoded + 1, "only the query is encoded: the vectors are in the database"


def test_an_unknown_label_is_not_found_and_a_standard_one_is_empty(scope: Scope, searcher: Searcher) -> None:
    assert found(searcher, scope, "water") == []
    assert found(searcher, scope, "water", label="latest") == []
    with pytest.raises(NotFound, match="prodction"):
        found(searcher, scope, "water", label="prodction")


def test_a_kind_filters(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water", kind="rule") == []
    assert found(searcher, scope, "water", kind="skill") == ["boil-water"]


def test_min_seq_is_honoured(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    seq = head(scope)
    assert searcher.find(scope, ["water"], label="production", k=1, min_seq=seq).seq >= seq


def test_an_event_that_does_not_come_is_unavailable(scope: Scope, reader: Reader) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    with pytest.raises(Unavailable, match="not yet 1000"):
        Searcher(reader, wait_seconds=0.05).find(scope, ["water"], label="production", k=1, min_seq=1000)


def test_a_search_waits_for_an_event_that_comes(scope: Scope, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = threading.Event()
    wait = reader._stopping.wait
    monkeypatch.setattr(reader._stopping, "wait", lambda seconds: (waiting.set(), wait(seconds)))
    target = head(scope) + 1
    reached: list[int] = []
    thread = threading.Thread(target=lambda: reached.append(reader.wait_for(scope.workspace_id, target, timeout=20)))
    thread.start()
    assert waiting.wait(10)
    head(scope)
    thread.join(10)
    assert reached == [target]


def test_workspaces_do_not_find_each_others_skills(scope: Scope, searcher: Searcher) -> None:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    other = Scope(database=scope.database, workspace_id="wsp_other", actor="tester")
    publish(other, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water") == []
    assert found(searcher, other, "water") == ["boil-water"]


def test_vectors_of_another_model_are_not_mixed_in(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    assert found(searcher, scope, "water") == ["boil-water"]
    other = Searcher(Reader(scope.database, WordEncoder("words-2")), wait_seconds=10)
    assert found(other, scope, "water") == ["boil-water"]
    with scope.transaction() as unit:
        stored = unit.session.execute(sa.select(Embedding.model_fingerprint)).scalars().all()
    assert sorted(stored) == ["words-1", "words-2"]


@pytest.mark.parametrize("seed", range(4))
def test_the_index_equals_the_database_after_random_changes(scope: Scope, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "_EVENTS_AT_ONCE", 3)
    monkeypatch.setattr(state, "_DEAD_ALLOWED", 4)
    rng = random.Random(seed)
    eager, lazy = Reader(scope.database, WordEncoder()), Reader(scope.database, WordEncoder())
    for number, change in enumerate(_changes(scope, rng)):
        change()
        _level(eager, scope)
        if number % 9 == 0:
            _level(lazy, scope)
        for label in LABELS:
            assert in_index(eager, scope, label) == in_database(scope, label), f"seed {seed}, change {number}, {label}"
    _level(lazy, scope)
    fresh = Reader(scope.database, WordEncoder())
    _level(fresh, scope)
    results = [
        [
            [(item.skill_id, round(item.score, 9)) for item in _ranked(reader, scope, query, label)]
            for label in LABELS
            for query in ("water stove", "plant 3", "nothing like it")
        ]
        for reader in (eager, lazy, fresh)
    ]
    assert results[0] == results[1] == results[2], f"seed {seed}: equal sets must be ranked equally"
    for label in LABELS:
        assert in_index(lazy, scope, label) == in_index(fresh, scope, label) == in_database(scope, label)


def test_a_search_during_publications_finds_the_old_or_the_new_version_never_none(scope: Scope, searcher: Searcher) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    stop = threading.Event()

    def publish_on() -> None:
        number = 0
        while not stop.is_set() and number < 60:
            number += 1
            publish(scope, "boil-water", f"Boil water, way {number}.")
        stop.set()

    thread = threading.Thread(target=publish_on)
    thread.start()
    answers = []
    while not stop.is_set():
        answers.append(found(searcher, scope, "water"))
    thread.join(10)
    assert answers
    assert set(map(tuple, answers)) == {("boil-water",)}


def test_the_thread_follows_all_workspaces(scope: Scope, reader: Reader) -> None:
    publish(scope, "boil-water", "Boil water on a stove.")
    reader.start()
    try:
        seq = head(scope)
        while reader.index(scope.workspace_id).seq < seq:
            threading.Event().wait(0.01)
    finally:
        reader.stop()
    assert in_index(reader, scope, "production") == in_database(scope, "production") != set()


def _level(reader: Reader, scope: Scope) -> None:
    while True:
        before = reader.index(scope.workspace_id).seq
        if reader.catch_up(scope.workspace_id) == before:
            return


def _ranked(reader: Reader, scope: Scope, query: str, label: str) -> list:
    from skillhub.retrieval import search

    [ranked] = search.search(reader.index(scope.workspace_id), reader.encoder, [query], label=label, kind=None, k=100)
    return ranked


def _changes(scope: Scope, rng: random.Random) -> Iterator[Callable[[], object]]:
    """60 random publications, label moves and retirements over a dozen skills."""
    numbers: dict[str, int] = {}
    retired: set[str] = set()
    for step in range(60):
        alive = sorted(set(numbers) - retired)
        name = rng.choice([f"skill-{number}" for number in range(12) if f"skill-{number}" not in retired])
        kind = rng.choices(["publish", "move", "retire"], [6, 4, 1])[0]
        if kind == "publish" or name not in alive:
            numbers[name] = numbers.get(name, 0) + 1
            label = rng.choice(["production", "canary", None])
            yield lambda: publish(scope, name, f"About water and plant {step}.", label=label)  # noqa: B023
        elif kind == "move":
            yield lambda: _move(scope, name, rng.choice(["production", "canary"]), rng.randint(1, numbers[name]))  # noqa: B023
        elif len(retired) < 6:
            retired.add(name)
            yield lambda: skills.retire(scope, name=name, reason="random")  # noqa: B023


def _move(scope: Scope, name: str, label: str, number: int) -> None:
    try:
        revision = labels.get(scope, name=name, label=label)[0].revision
    except NotFound:
        revision = None
    labels.move(scope, name=name, label=label, number=number, revision=revision)
