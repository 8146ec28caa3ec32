"""The log as evidence: an exported head proves later that nothing before it was changed, cut off or written anew."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from skillhub.errors import Invalid
from skillhub.models import Workspace
from skillhub.services import audit
from skillhub.services.audit import Head
from skillhub.services.scope import Scope
from skillhub.store import events

SECRET = "a-secret-of-the-tests"


@pytest.fixture
def exported(scope: Scope) -> Head:
    """The head after ten events; ten more follow it."""
    happen(scope, 10)
    head = audit.head(scope, secret=SECRET)
    happen(scope, 10)
    return head


def happen(scope: Scope, count: int) -> None:
    for number in range(count):
        with scope.transaction() as unit:
            unit.record("thing.made", f"thing-{number}", number=number)


def tamper(scope: Scope, statement: str) -> None:
    with scope.database.engine.begin() as owner:
        owner.execute(sa.text("ALTER TABLE event DISABLE TRIGGER immutable"))
        owner.execute(sa.text(statement))
        owner.execute(sa.text("ALTER TABLE event ENABLE TRIGGER immutable"))


def test_a_head_holds_while_the_log_grows(scope: Scope, exported: Head) -> None:
    assert (exported.seq, audit.check(scope, exported, secret=SECRET)) == (10, None)
    assert audit.verify(scope) == audit.Verdict(checked=20, seq=20, broken=None)
    assert audit.verify(scope, after=5, limit=10) == audit.Verdict(checked=10, seq=15, broken=None)


def test_an_edit_before_the_head_is_named(scope: Scope, exported: Head) -> None:
    tamper(scope, "UPDATE event SET actor = 'someone-else' WHERE seq = 4")
    broken = audit.check(scope, exported, secret=SECRET)
    assert (broken.seq, "was edited" in broken.why) == (4, True)


def test_only_an_exported_head_shows_that_the_end_was_cut_off(scope: Scope, exported: Head) -> None:
    tamper(scope, "DELETE FROM event WHERE seq > 7")
    assert audit.verify(scope).broken is None
    broken = audit.check(scope, exported, secret=SECRET)
    assert (broken.seq, "ends before the exported head" in broken.why) == (8, True)


def test_only_an_exported_head_shows_that_the_log_was_written_anew(scope: Scope, exported: Head) -> None:
    with scope.transaction() as unit:
        rows = events.after(unit.session, unit.workspace_id, seq=0)
    prev, anew = events.GENESIS, []
    for row in rows:
        row.actor, row.prev_sha256 = "someone-else", prev
        prev = row.sha256 = events.event_sha256(row)
        anew.append((row.seq, row.prev_sha256, row.sha256))
    tamper(scope, "UPDATE event SET actor = 'someone-else'")
    for seq, before, sha256 in anew:
        tamper(scope, f"UPDATE event SET prev_sha256 = '{before}', sha256 = '{sha256}' WHERE seq = {seq}")
    assert audit.verify(scope).broken is None
    assert "written anew" in audit.check(scope, exported, secret=SECRET).why


@pytest.mark.parametrize("change", [{"seq": 9}, {"sha256": "0" * 64}, {"signature": "0" * 64}])
def test_a_head_that_this_hub_did_not_sign_is_refused(scope: Scope, exported: Head, change: dict) -> None:
    with pytest.raises(Invalid, match="signature"):
        audit.check(scope, replace(exported, **change), secret=SECRET)


def test_a_head_of_another_workspace_is_refused(scope: Scope, exported: Head) -> None:
    with scope.database.system_transaction() as session:
        session.add(Workspace(id="wsp_other", name="other"))
    with pytest.raises(Invalid, match="not of wsp_other"):
        audit.check(Scope(scope.database, "wsp_other", "system"), exported, secret=SECRET)
