"""What the catalogue promises about versions and labels."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from skillhub.documents.archive import BundledFile
from skillhub.errors import Conflict, Invalid, NotFound, PreconditionFailed
from skillhub.services import labels, skills, versions
from skillhub.services.scope import Scope
from skillhub.store import events, search
from skillhub.store import versions as rows

NAME = "boil-water"


def text(body: str, *, name: str = NAME, description: str = "How to boil water.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# Boil\n\n## Steps\n\n1. {body}\n"


def create(scope: Scope, body: str = "Heat it.", **kwargs) -> skills.SkillView:
    return versions.create(scope, name=NAME, kind="skill", document=text(body), **kwargs)


def kinds_of_events(scope: Scope) -> list[str]:
    with scope.transaction() as unit:
        return [event.kind for event in events.after(unit.session, scope.workspace_id, seq=0)]


def test_eight_publishers_get_numbers_without_gap_or_duplicate(scope: Scope) -> None:
    def publisher(thread: int) -> list[int]:
        numbers = []
        for turn in range(10):
            with scope.transaction() as unit:
                document = text(f"Heat it {thread}-{turn}.")
                numbers.append(versions.publish_in(unit, name=NAME, kind="skill", document=document).number)
        return numbers

    with ThreadPoolExecutor(8) as pool:
        numbers = [number for found in pool.map(publisher, range(8)) for number in found]
    assert sorted(numbers) == list(range(1, 81))
    assert skills.get(scope, NAME).labels == {"latest": 80, "production": 80}


def test_twenty_parallel_equal_creates_make_one_version(scope: Scope) -> None:
    with ThreadPoolExecutor(8) as pool:
        views = list(pool.map(lambda _: create(scope), range(20)))
    assert {view.skill.id for view in views} == {views[0].skill.id}
    assert {view.latest.version.number for view in views} == {1}


def test_a_transaction_that_recorded_first_and_a_publisher_do_not_deadlock(scope: Scope) -> None:
    create(scope)

    def record_then_publish(turn: int) -> int:
        with scope.transaction() as unit:
            unit.record("trial.finished", "x")
            return versions.publish_in(unit, name=NAME, kind="skill", document=text(f"a{turn}")).number

    def publish(turn: int) -> int:
        return versions.publish(scope, name=NAME, document=text(f"b{turn}")).version.number

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(work, turn) for turn in range(15) for work in (record_then_publish, publish)]
        assert sorted(task.result() for task in waiting) == list(range(2, 32))


def test_publishing_writes_the_version_moves_the_labels_and_logs_each(scope: Scope) -> None:
    create(scope)
    assert kinds_of_events(scope) == ["skill.created", "version.published", "label.moved", "label.moved"]


def test_publishing_equal_content_writes_nothing(scope: Scope) -> None:
    first = create(scope).latest.version
    before = kinds_of_events(scope)
    with scope.transaction() as unit:
        again = versions.publish_in(unit, name=NAME, kind="skill", document=text("Heat it."))
    assert again.id == first.id
    assert kinds_of_events(scope) == before


def test_a_text_update_keeps_the_bundled_files(scope: Scope) -> None:
    create(scope, files=[BundledFile("scripts/heat.sh", 0o755, b"#!/bin/sh\n")])
    version = versions.publish(scope, name=NAME, document=text("Heat it well.")).version
    with scope.transaction() as unit:
        assert rows.files(unit.session, version.id) == [BundledFile("scripts/heat.sh", 0o755, b"#!/bin/sh\n")]


def test_the_stored_document_is_the_published_one_to_the_last_byte(scope: Scope) -> None:
    document = "---\r\nname: boil-water\r\ndescription: d # \r\n---\r\n\r\nx\t \r\n\r\n".replace(" # ", "")
    versions.create(scope, name=NAME, kind="skill", document=document)
    assert versions.get(scope, name=NAME, number=1).version.document == document


def test_an_edit_against_an_old_base_is_refused(scope: Scope) -> None:
    create(scope)
    operation = {"op": "replace", "anchor": "steps", "sentence": "Heat it.", "text": "Heat it slowly."}
    second = versions.publish(scope, name=NAME, operations=[operation], base=1)
    assert second.version.document == text("Heat it slowly.")
    assert [(p.number, p.relation) for p in second.parents] == [(1, "edit")]
    with pytest.raises(Conflict, match="no longer the newest"):
        versions.publish(scope, name=NAME, operations=[operation], base=1)


def test_rollback_is_a_new_version_with_the_old_content(scope: Scope) -> None:
    create(scope)
    versions.publish(scope, name=NAME, document=text("Burn it."), label="production")
    back = versions.rollback(scope, name=NAME, number=1)
    assert (back.version.number, back.version.document) == (3, text("Heat it."))
    assert [(p.number, p.relation) for p in back.parents] == [(1, "rollback")]
    assert skills.get(scope, NAME).labels["production"] == 3


def test_a_retired_skill_is_never_served_nor_changed(scope: Scope) -> None:
    create(scope)
    skills.retire(scope, name=NAME, reason="harmful")
    with scope.transaction() as unit:
        assert search.labelled(unit.session, workspace_id=scope.workspace_id, skill_ids=None) == []
    with pytest.raises(Conflict, match="retired"), scope.transaction() as unit:
        versions.publish_in(unit, name=NAME, kind="skill", document=text("again"))
    with pytest.raises(Conflict, match="retired"):
        labels.move(scope, name=NAME, label="production", number=1, revision=1)


def test_unknown_names_labels_and_versions_are_not_found(scope: Scope) -> None:
    create(scope)
    with pytest.raises(NotFound):
        skills.get(scope, "nothing")
    with pytest.raises(NotFound):
        labels.get(scope, name=NAME, label="staging")
    with pytest.raises(NotFound):
        versions.get(scope, name=NAME, number=2)


def test_a_label_moves_only_from_the_revision_that_was_read(scope: Scope) -> None:
    create(scope)
    versions.publish(scope, name=NAME, document=text("Burn it."))
    label, _ = labels.get(scope, name=NAME, label="production")
    moved, version = labels.move(scope, name=NAME, label="production", number=2, revision=label.revision)
    assert (version.number, moved.revision) == (2, label.revision + 1)
    for stale in (label.revision, None):
        with pytest.raises(PreconditionFailed):
            labels.move(scope, name=NAME, label="production", number=1, revision=stale)


@pytest.mark.parametrize("label", ["3", "Production", "a b", "", "x" * 37, "latest"])
def test_a_label_that_reads_as_a_number_or_is_reserved_is_refused(scope: Scope, label: str) -> None:
    create(scope)
    with pytest.raises(Invalid):
        labels.move(scope, name=NAME, label=label, number=1, revision=None)


def test_a_name_has_one_canonical_form(scope: Scope) -> None:
    versions.create(scope, name="ﬁre", kind="rule", document=text("x", name="ﬁre"))
    assert skills.get(scope, " fire ").skill.name == "fire"
    with pytest.raises(Conflict, match="is a rule"), scope.transaction() as unit:
        versions.publish_in(unit, name="fire", kind="skill", document=text("y", name="fire"))
