"""Publishing a few skills together: all of them, or none."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillhub import documents
from skillhub.documents.archive import BundledFile
from skillhub.errors import SkillhubError
from skillhub.models import Skill, Version
from skillhub.services import skills
from skillhub.services.labels import LATEST, PRODUCTION
from skillhub.services.scope import Scope, Unit
from skillhub.services.skills import VersionView
from skillhub.services.versions import publish_in
from skillhub.store import events
from skillhub.store import versions as rows


@dataclass(frozen=True)
class Publication:
    """The next version of a skill, which is made where it is missing."""

    name: str
    document: str
    kind: str = "skill"
    files: Sequence[BundledFile] | None = None
    """None keeps those of the newest version."""
    label: str | None = PRODUCTION
    message: str = ""


def publish_all(scope: Scope, items: Sequence[Publication]) -> list[VersionView]:
    """The version of each item, in order, written in one transaction. Content that an item's label has already is left alone.

    Errors: those of publishing one, with the place `/items/<index>`; then nothing is written.
    """
    with scope.transaction() as unit:
        events.lock(unit.session, unit.workspace_id)
        return skills.version_views_in(unit, [_publish_in(unit, *item) for item in enumerate(items)])


def _publish_in(unit: Unit, index: int, item: Publication) -> tuple[Skill, Version]:
    try:
        name = documents.canonical_name(item.name)
        newest = rows.labelled(unit.session, workspace_id=unit.workspace_id, skill_name=name, label=LATEST)
        parents = [(newest.id, "edit")] if newest else []
        version = publish_in(unit, **vars(item), parents=parents)
        return skills.get_in(unit, name), version
    except SkillhubError as error:
        raise error.within(f"/items/{index}") from None
