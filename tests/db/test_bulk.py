"""Many at once is the same as one by one."""

import random
from collections.abc import Iterator, Sequence

import pytest
import sqlalchemy as sa

from skillhub.documents import frontmatter, plain
from skillhub.documents.archive import BundledFile
from skillhub.errors import Conflict, Invalid, SkillhubError
from skillhub.models import Workspace
from skillhub.services import bulk, skills, versions
from skillhub.services.bulk import Line, Published
from skillhub.services.scope import Scope
from skillhub.store import events
from skillhub.store import versions as rows
from tests import chain

TABLES = {
    "skill": "name, kind, state, last_number",
    "version": "number, content_sha256, document, description, message, created_by, candidate_id",
    "version_file": "path, mode, content",
    "label": "name, revision",
    "version_parent": "relation",
}


def text(name: str, body: str = "Do it.") -> str:
    return f"---\nname: {name}\ndescription: How to do {name}.\n---\n\n# {name}\n\n{body}\n"


def publish(scope: Scope, lines: Sequence[Line], most: int = 3) -> list[bulk.Result]:
    batches = (lines[at : at + most] for at in range(0, len(lines), most))
    return [result for results in bulk.publish_all(scope, batches) for result in results]


def one_by_one(scope: Scope, line: Line) -> None:
    """What the import of a folder does."""
    with scope.transaction() as unit:
        newest = rows.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=line.name, label="latest")
        versions.publish_in(
            unit, name=line.name, kind=line.kind, document=line.document, files=line.files, message=line.message,
            label=line.label, parents=[(newest.id, "import")] if newest else [],
        )  # fmt: skip


@pytest.fixture
def other(scope: Scope) -> Scope:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    return Scope(database=scope.database, workspace_id="wsp_other", actor="tester")


def lines() -> Iterator[Line]:
    """New skills, new versions, the same again, other labels, back to an earlier content; texts that COPY must escape."""
    rng = random.Random(3)
    awkward = ["a\tb\\n\\.\n\\.\n", "\r\n\\N\n", 'quo"te\x0b', "技能 \U0001f600"]
    for turn in range(60):
        name = f"s-{rng.randrange(9)}"
        files = [BundledFile("run.sh", 0o755, bytes(range(256)) * rng.randrange(2)), BundledFile("b/c.txt", 0o644, b"\\x\n")]
        body = rng.choice(awkward) + str(rng.randrange(2))
        label = rng.choice(["production", "staging", None])
        yield Line(name, text(name, body), files=files[: rng.randrange(3)], label=label, message=f"m\\{turn % 2}")


def snapshot(scope: Scope) -> dict[str, list[tuple]]:
    order = "skill.name, version.number"
    whole = {
        "skill": "skill LEFT JOIN version ON false",
        "version": "version JOIN skill ON skill.id = version.skill_id",
        "version_file": "version_file JOIN version ON version.id = version_id JOIN skill ON skill.id = skill_id",
        "version_parent": "version_parent JOIN version ON version.id = version_id JOIN skill ON skill.id = skill_id",
        "label": "label JOIN version ON version.id = version_id JOIN skill ON skill.id = label.skill_id",
    }
    found = {}
    with scope.transaction() as unit:
        for table, columns in TABLES.items():
            shown = ", ".join(f"{table}.{column.strip()}" for column in columns.split(","))
            query = f"SELECT skill.name, version.number, {shown} FROM {whole[table]} ORDER BY {order}, {shown}"
            found[table] = [tuple(row) for row in unit.session.execute(sa.text(query))]
        log = events.after(unit.session, scope.workspace_id, seq=0, limit=100_000)
        assert chain.first_broken(unit.session, scope.workspace_id) is None
        found["event"] = [(e.seq, e.kind, e.actor, _named(e.payload)) for e in log]
    return found


def _named(payload: dict) -> dict:
    """The payload, ids told apart only by whether they are there."""
    return {key: bool(value) if key.endswith("_id") else value for key, value in payload.items()}


def test_many_at_once_leave_the_same_rows_and_events_as_one_by_one(scope: Scope, other: Scope) -> None:
    everything = list(lines())
    for line in everything:
        one_by_one(scope, line)
    assert not [result for result in publish(other, everything, most=7) if isinstance(result, SkillhubError)]
    assert snapshot(other) == snapshot(scope)


def test_the_same_lines_again_change_nothing(scope: Scope) -> None:
    everything = [Line(f"s-{i}", text(f"s-{i}")) for i in range(10)]
    first = publish(scope, everything)
    before = snapshot(scope)
    assert publish(scope, everything) == first
    assert snapshot(scope) == before


def test_a_bad_line_keeps_no_other_back(scope: Scope) -> None:
    versions.create(scope, name="old", kind="skill", document=text("old"))
    skills.retire(scope, name="old", reason="r")
    handed = Invalid("not JSON")
    bad = [Line("other", text("name")), handed, Line("old", text("old", "new")), Line("a", text("a"), label="7")]
    found = publish(scope, [Line("a", text("a")), *bad, Line("a", text("a", "more"), kind="rule"), Line("b", text("b"))], 100)
    assert [type(item) for item in found] == [Published, Invalid, Invalid, Conflict, Invalid, Conflict, Published]
    assert found[2] is handed
    assert found[1].errors[0]["path"] == "/document/frontmatter/name"


def test_all_of_a_batch_stands_or_nothing(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(scope)

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("cut")

    monkeypatch.setattr(bulk.rows, "move", broken)
    with pytest.raises(RuntimeError):
        publish(scope, [Line("a", text("a"))])
    assert snapshot(scope) == before


def test_an_export_imported_elsewhere_is_the_same_to_the_byte(scope: Scope, other: Scope) -> None:
    publish(scope, list(lines()))
    filters = {"label": "production", "kind": None, "state": "published", "prefix": ""}
    sent = list(bulk.export(scope, **filters))
    assert sent
    publish(other, sent)
    assert list(bulk.export(other, **filters)) == sent


def test_an_export_keeps_to_its_filters(scope: Scope) -> None:
    publish(scope, [Line("a-1", text("a-1")), Line("a-2", text("a-2"), kind="rule"), Line("b-1", text("b-1"), label="mine")])
    skills.retire(scope, name="a-1", reason="r")
    names = lambda **more: [  # noqa: E731
        line.name for line in bulk.export(scope, **{"label": "latest", "kind": None, "state": None, "prefix": ""} | more)
    ]
    assert names() == ["a-1", "a-2", "b-1"]
    assert names(prefix="a-") == ["a-1", "a-2"]
    assert names(kind="rule") == names(state="published", prefix="a") == ["a-2"]
    assert names(label="mine") == ["b-1"]
    assert names(prefix="%") == []


PLAIN = [
    "name: a\ndescription: Do 1, 2; (3).", 'name: "a"\ndescription: "x: y #z"', "license: MIT\r\nname: b-1",
    "name: 1e3\ndescription: null",
]  # fmt: skip
NOT_PLAIN = [
    "name: a: b", "name: a #b", "name: a\n  b", "name: a\nname: b", "name: [a]", "name: 'a'", "other: a", "", "name: a\n\n",
]  # fmt: skip


@pytest.mark.parametrize("source", PLAIN)
def test_the_plain_reader_says_what_the_yaml_reader_says(source: str) -> None:
    source = f"\n{source}\n"
    assert plain.read(source) == frontmatter.read(source)


@pytest.mark.parametrize("source", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_the_yaml_reader(source: str) -> None:
    assert plain.read(f"\n{source}\n") is None


def test_the_plain_reader_never_differs_from_the_yaml_reader() -> None:
    rng = random.Random(5)
    pieces = ["name: ", "description: ", '"', "'", "a", "1", " ", "\n", *"#:-\té[&!%*", ": ", "- ", "\r\n"]
    read = 0
    for _ in range(20_000):
        source = "\n" + "".join(rng.choices(pieces, [9, 9, 2, 1, 5, 5, 2, 8, *[1] * 13], k=rng.randrange(1, 12))) + "\n"
        found = plain.read(source)
        if found is not None:
            read += 1
            assert found == frontmatter.read(source), source
    assert read > 50
