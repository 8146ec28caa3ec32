"""Merging and comparing versions, branches, several parents, and publishing together."""

from collections.abc import Sequence

import pytest

from skillhub.documents.archive import BundledFile
from skillhub.errors import Conflict, Invalid, MergeConflict, NotFound
from skillhub.services import branches, bulk, candidates, labels, lineage, merging, publications, quarantine, skills, versions
from skillhub.services.candidates import EvidenceInput
from skillhub.services.publications import Publication
from skillhub.services.scope import Scope
from skillhub.services.skills import VersionView
from skillhub.services.versions import ParentInput
from tests.db.gating import finish, lease, open_gate, put_suite

NAME = "boil"


def text(steps: str = "Heat it.", notes: str = "Hot.", *, name: str = NAME) -> str:
    return f"---\nname: {name}\ndescription: How to {name}.\n---\n\n## Steps\n\n{steps}\n\n## Notes\n\n{notes}\n"


def publish(scope: Scope, document: str, *, parents: Sequence[int] = (), **more: object) -> VersionView:
    given = [ParentInput(number) for number in parents]
    return versions.publish(scope, name=NAME, document=document, parents=given, **more)


@pytest.fixture
def forked(scope: Scope) -> Scope:
    """Version 1, and two versions that each changed another section of it."""
    versions.create(scope, name=NAME, kind="skill", document=text(), files=[BundledFile("a.sh", 0o755, b"a")])
    publish(scope, text(steps="Heat it well."), parents=[1])
    publish(
        scope, text(notes="Very hot."), parents=[1], files=[BundledFile("b.sh", 0o644, b"b"), BundledFile("a.sh", 0o755, b"a")]
    )
    return scope


def test_a_merge_has_the_changes_and_the_files_of_both_and_both_as_parents(forked: Scope) -> None:
    merged = merging.merge_versions(forked, name=NAME, left=2, right=3, label="production")
    assert merged.version.document == text("Heat it well.", "Very hot.")
    assert [(parent.number, parent.relation) for parent in merged.parents] == [(2, "merge"), (3, "merge")]
    assert skills.get(forked, NAME).labels == {"latest": 4, "production": 4}
    found = merging.compare(forked, name=NAME, before=2, after=4)
    assert (found.sections.changed, found.files.added, found.metadata.changed) == (["notes"], ["b.sh"], [])
    origins = {row.sentence.text: row.introduced_in.number for row in lineage.blame(forked, name=NAME, number=4)}
    assert origins == {"Heat it well.": 2, "Very hot.": 3}


def test_a_contradiction_is_named_and_nothing_is_written(forked: Scope) -> None:
    publish(forked, text(steps="Heat it long."), parents=[1])
    with pytest.raises(MergeConflict) as caught:
        merging.merge_versions(forked, name=NAME, left=2, right=4)
    assert [fault["path"] for fault in caught.value.errors] == ["/sections/steps"]
    assert skills.get(forked, NAME).labels["latest"] == 4


def test_criss_cross_merges_start_from_the_nearest_common_version(forked: Scope) -> None:
    merging.merge_versions(forked, name=NAME, left=2, right=3)
    publish(forked, text("Heat it very well.", "Very hot."), parents=[4])
    publish(forked, text("Heat it well.", "Cool."), parents=[2, 4])
    merged = merging.merge_versions(forked, name=NAME, left=5, right=6)
    assert merged.version.document == text("Heat it very well.", "Cool.")


def test_what_holds_the_other_already_or_is_held_back_is_not_merged(forked: Scope) -> None:
    with pytest.raises(Conflict, match="version 2 holds version 1 already"):
        merging.merge_versions(forked, name=NAME, left=2, right=1)
    with pytest.raises(NotFound):
        merging.merge_versions(forked, name=NAME, left=2, right=9)
    quarantine.hold_version(forked, name=NAME, number=3, reason="poisoned", with_descendants=False)
    with pytest.raises(Conflict, match="held back: poisoned"):
        merging.merge_versions(forked, name=NAME, left=2, right=3)


def test_a_version_may_come_from_several_also_of_another_skill(forked: Scope) -> None:
    versions.create(forked, name="cook", kind="skill", document=text(name="cook"))
    parents = [ParentInput(2, "split"), ParentInput(1, "merge", skill="cook")]
    made = versions.publish(forked, name=NAME, document=text("All."), parents=parents)
    assert {(parent.number, parent.relation) for parent in made.parents} == {(2, "split"), (1, "merge")}
    assert made.version.id in {
        view.version.id for view in quarantine.descendants(forked, made.parents[0].parent_id, after=None, limit=9)
    }
    for wrong, error in ((ParentInput(2), Invalid), (ParentInput(99), NotFound), (ParentInput(1, skill="none"), NotFound)):
        with pytest.raises(error) as caught:
            versions.publish(forked, name=NAME, document=text("More."), parents=[ParentInput(2), wrong])
        assert caught.value.errors[0]["path"] == "/parents/1"


def test_skills_are_published_together_or_not_at_all(forked: Scope) -> None:
    items = [
        Publication(NAME, text("Together.")),
        Publication("fry", text(name="fry"), label=None),
        Publication(NAME, text("Twice.")),
    ]
    made = publications.publish_all(forked, items)
    assert [(view.skill.name, view.version.number) for view in made] == [(NAME, 4), ("fry", 1), (NAME, 5)]
    assert [parent.number for parent in made[2].parents] == [4]
    assert merging.compare(forked, name=NAME, before=3, after=5).files.changed == []
    assert [view.version.number for view in publications.publish_all(forked, items[1:])] == [1, 5]
    for wrong, place in (
        (Publication("bad", "no"), "/items/1/document/frontmatter"),
        (Publication("fry", text(name="fry"), kind="rule"), "/items/1"),
    ):
        with pytest.raises((Invalid, Conflict)) as caught:
            publications.publish_all(forked, [Publication(NAME, text("Never.")), wrong])
        assert caught.value.errors[0]["path"] == place
    assert skills.get(forked, NAME).labels["latest"] == 5


def test_a_label_has_a_history_and_can_be_removed_and_made_again(forked: Scope) -> None:
    labels.move(forked, name=NAME, label="canary", number=2, revision=None, new=True, reason="try it")
    labels.remove(forked, name=NAME, label="canary", revision=1, reason="worse")
    again, _ = labels.move(forked, name=NAME, label="canary", number=3, revision=None, new=True)
    assert again.revision == 2
    labels.remove(forked, name=NAME, label="canary", revision=2)
    bulk_line = bulk.Line(NAME, text("In bulk."), label="canary")
    assert [len(results) for results in bulk.publish_all(forked, [[bulk_line]])] == [1]
    assert labels.get(forked, name=NAME, label="canary")[0].revision == 3
    moves = [
        (event.kind, event.payload.get("number"), event.payload.get("reason"))
        for event in labels.history(forked, name=NAME, label="canary")
    ]
    assert moves[:2] == [("label.moved", 4, None), ("label.removed", None, "")]
    assert moves[2:] == [("label.moved", 3, None), ("label.removed", None, "worse"), ("label.moved", 2, "try it")]
    assert [event.payload["number"] for event in labels.history(forked, name=NAME, label="latest")] == [4, 3, 2, 1]
    with pytest.raises(Invalid, match="latest"):
        labels.remove(forked, name=NAME, label="latest", revision=1)


def on_branch(scope: Scope, document: str, *, head: str | None, **more: object) -> candidates.CandidateView:
    facts = {"target_slice": "boil", "proposer": "me"}
    return branches.propose(scope, skill=NAME, name="calmer", head=head, **facts, document=document, **more)


def test_a_branch_grows_is_merged_with_production_and_goes_through_the_gate(scope: Scope) -> None:
    versions.create(scope, name=NAME, kind="skill", document=text())
    made = branches.create(scope, skill=NAME, name="calmer")
    assert (made.base.number, made.branch.head_id) == (1, None)
    first = on_branch(
        scope, text("Heat it slowly."), head=None, evidence=(EvidenceInput("steps", "Heat it slowly."),)
    ).candidate
    replaced = ({"op": "replace", "anchor": "steps", "text": "Heat it slowly.\n\nStir."},)
    facts = {"target_slice": "boil", "proposer": "me", "operations": replaced}
    second = branches.propose(scope, skill=NAME, name="calmer", head=first.id, **facts).candidate
    assert (second.previous_id, second.document) == (first.id, text("Heat it slowly.\n\nStir."))
    versions.publish(scope, name=NAME, document=text(notes="Very hot."), label="production")
    merged = branches.merge(scope, skill=NAME, name="calmer", proposer="me")
    assert merged.candidate.document == text("Heat it slowly.\n\nStir.", "Very hot.")
    assert (merged.candidate.previous_id, [row.claim for row, _ in merged.evidence]) == (second.id, ["Heat it slowly."])
    assert branches.merge(scope, skill=NAME, name="calmer", proposer="me").candidate.id == merged.candidate.id
    put_suite(scope)
    open_gate(scope, merged.candidate)
    while found := lease(scope, limit=8):
        for leased in found:
            finish(scope, leased, float("slowly" in "".join(shown.document for shown in leased.documents)))
    accepted = candidates.get(scope, merged.candidate.id)
    assert accepted.candidate.state == "accepted", accepted.decision
    assert skills.get(scope, NAME).labels["production"] == 3
    edges = {(edge["source"], edge["target"]) for edge in lineage.graph(scope, NAME).edges if edge["relation"] == "continues"}
    assert edges == {(second.id, first.id), (merged.candidate.id, second.id)}


def test_a_branch_refuses_a_head_that_moved_a_contradiction_and_everything_once_closed(scope: Scope) -> None:
    versions.create(scope, name=NAME, kind="skill", document=text())
    branches.create(scope, skill=NAME, name="calmer", base=1)
    with pytest.raises(Conflict, match="has a branch"):
        branches.create(scope, skill=NAME, name="calmer")
    with pytest.raises(Conflict, match="no candidate"):
        branches.merge(scope, skill=NAME, name="calmer", proposer="me")
    first = on_branch(scope, text("Heat it slowly."), head=None).candidate
    for head in (None, "can_other"):
        with pytest.raises(Conflict, match="head of the branch"):
            on_branch(scope, text("Heat it more."), head=head)
    with pytest.raises(Conflict, match="identical to the one before"):
        on_branch(scope, text("Heat it slowly."), head=first.id)
    versions.publish(scope, name=NAME, document=text("Heat it fast."), label="production")
    with pytest.raises(MergeConflict, match="/sections/steps"):
        branches.merge(scope, skill=NAME, name="calmer", proposer="me")
    assert branches.get(scope, skill=NAME, name="calmer").branch.head_id == first.id
    assert branches.close(scope, skill=NAME, name="calmer").branch.state == "closed"
    assert branches.close(scope, skill=NAME, name="calmer").branch.state == "closed"
    with pytest.raises(Conflict, match="closed"):
        on_branch(scope, text("Heat it more."), head=first.id)
    assert [view.branch.name for view in branches.page(scope, skill=NAME, state="closed")] == ["calmer"]


def test_a_long_document_takes_few_operations_at_a_time(scope: Scope) -> None:
    versions.create(scope, name=NAME, kind="skill", document=text() + "a\n" * 150_000)
    added = {"op": "add", "anchor": "steps", "text": "Wait."}
    with pytest.raises(Invalid, match="at most 1 operations"):
        versions.publish(scope, name=NAME, operations=[added, added], base=1)
    assert versions.publish(scope, name=NAME, operations=[added], base=1).version.number == 2
