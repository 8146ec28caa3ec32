"""Storing evaluation sets. A stored case never changes: gates have registered it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillhub.errors import NotFound
from skillhub.evaluation.cases import CaseInput, check, check_kept, content_sha256
from skillhub.ids import new_id
from skillhub.models import Case, Suite
from skillhub.services.scope import Scope, Unit
from skillhub.store import suites
from skillhub.store.keyset import Start

BY_NAME = Start("name")
BY_KEY = Start("key")


@dataclass(frozen=True)
class StoredSuite:
    suite: Suite
    cases: int
    """How many cases it has now."""


def put(scope: Scope, *, name: str, cases: Sequence[CaseInput]) -> StoredSuite:
    """Store a suite, or add cases to it; equal content changes nothing.

    Errors: Invalid where the set is not valid, Conflict where a stored case would change or vanish.
    """
    check(cases)
    with scope.transaction() as unit:
        suite = _lock_or_make(unit, name)
        stored = suites.cases(unit.session, suite.id)
        check_kept([as_input(case) for case in stored], cases)
        known = {case.key for case in stored}
        new = [case for case in cases if case.key not in known]
        if new or not suite.content_sha256:
            _add_in(unit, suite, new=new, content=content_sha256(cases))
        return StoredSuite(suite, len(cases))


def get(scope: Scope, name: str) -> StoredSuite:
    with scope.transaction() as unit:
        return _stored(unit, [get_in(unit, name)])[0]


def get_in(unit: Unit, name: str) -> Suite:
    """The suite of that name, else NotFound."""
    suite = suites.named(unit.session, workspace_id=unit.workspace_id, name=name)
    if suite is None:
        raise NotFound(f"there is no suite {name!r}")
    return suite


def page(scope: Scope, start: Start = BY_NAME, **filters: Any) -> list[StoredSuite]:
    """Suites by `prefix`, `created_after`, `created_before`."""
    with scope.transaction() as unit:
        return _stored(unit, suites.page(unit.session, workspace_id=unit.workspace_id, start=start, **filters))


def case_page(scope: Scope, start: Start = BY_KEY, *, name: str, **filters: Any) -> Sequence[Case]:
    """Cases of a suite by `split` and `slice`."""
    with scope.transaction() as unit:
        return suites.case_page(unit.session, get_in(unit, name).id, start=start, **filters)


def _stored(unit: Unit, found: Sequence[Suite]) -> list[StoredSuite]:
    sizes = suites.sizes(unit.session, [suite.id for suite in found])
    return [StoredSuite(suite, sizes.get(suite.id, 0)) for suite in found]


def as_input(case: Case) -> CaseInput:
    return CaseInput(key=case.key, split=case.split, slice=case.slice, spec=case.spec)


def _lock_or_make(unit: Unit, name: str) -> Suite:
    fresh = Suite(id=new_id("sui"), workspace_id=unit.workspace_id, name=name, content_sha256="")
    suites.insert_if_missing(unit.session, fresh)
    return suites.lock(unit.session, workspace_id=unit.workspace_id, name=name)


def _add_in(unit: Unit, suite: Suite, *, new: Sequence[CaseInput], content: str) -> None:
    suite.content_sha256 = content
    unit.session.add(suite)
    rows = [
        Case(id=new_id("cas"), workspace_id=unit.workspace_id, suite_id=suite.id, key=case.key, split=case.split,
             slice=case.slice, spec=dict(case.spec))
        for case in new
    ]  # fmt: skip
    suites.insert_cases(unit.session, rows)
    unit.record("suite.stored", suite.id, suite=suite.name, content_sha256=content, added=[case.key for case in new])
