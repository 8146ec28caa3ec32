"""Calls about skills, versions, labels and the log."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillhub_client import models as m
from skillhub_client.endpoints.bodies import as_, as_bytes, as_nothing, given, part, plain_list, strings
from skillhub_client.transport import Call


def health() -> Call[m.Health]:
    """Whether the server is ready for requests: its database answers and is migrated."""
    return Call("GET", "/readyz", as_(m.Health))


def create_skill(
    name: str,
    document: str,
    *,
    kind: str = "skill",
    files: Iterable[m.SkillFile | Mapping[str, Any]] = (),
    message: str = "",
    label: str = "production",
) -> Call[m.Skill]:
    """A new skill with its first version. Conflict where the name is taken by other content."""
    body = {"name": name, "kind": kind, "document": document, "message": message, "label": label}
    return Call("POST", "/v1/skills", as_(m.Skill), json=body | {"files": plain_list(files)})


def publish_version(
    name: str,
    document: str | None = None,
    *,
    operations: Sequence[Mapping[str, Any]] | None = None,
    base: int | None = None,
    files: Iterable[m.SkillFile | Mapping[str, Any]] | None = None,
    parents: Iterable[Mapping[str, Any]] | None = None,
    message: str = "",
    label: str | None = None,
) -> Call[m.Version]:
    """The next version: a whole document, or edit operations against version `base`. Conflict where `base` is an older one.

    `files` are all its bundled files; None keeps those of the newest version. `parents` are `{number, relation, skill}`, where
    it comes from others than the newest.
    """
    body = {"document": document, "operations": operations, "base": base, "message": message, "label": label}
    body["files"] = None if files is None else plain_list(files)
    body["parents"] = None if parents is None else plain_list(parents)
    return Call("POST", f"/v1/skills/{part(name)}/versions", as_(m.Version), json=given(body))


def publish_all(items: Iterable[Mapping[str, Any]]) -> Call[list[m.Version]]:
    """The next version of each skill, all of them or none; items are `{name, document, kind, files, label, message}`."""
    read = as_(m.VersionList)
    return Call("POST", "/v1/publications", lambda response: read(response).versions, json={"items": plain_list(items)})


def diff_versions(name: str, before: int, after: int) -> Call[m.Diff]:
    """What makes version `after` of version `before`: metadata, sections, files and the text."""
    return Call("GET", f"/v1/skills/{part(name)}/diff", as_(m.Diff), params={"from": before, "to": after})


def merge_versions(name: str, left: int, right: int, *, label: str | None = None, message: str = "") -> Call[m.Version]:
    """A new version with the changes of both. Conflict whose `errors` name each part that both changed apart."""
    body = {"versions": [left, right], "label": label, "message": message}
    return Call("POST", f"/v1/skills/{part(name)}/merge", as_(m.Version), json=given(body))


def get_skill(name: str) -> Call[m.Skill]:
    """The skill with its labels and newest version."""
    return Call("GET", f"/v1/skills/{part(name)}", as_(m.Skill))


def list_skills(
    *, kind: str | None = None, state: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.Skill]]:
    """One page of skills."""
    params = {"kind": kind, "state": state, "cursor": cursor, "limit": limit}
    return Call("GET", "/v1/skills", as_(m.Page[m.Skill]), params=params)


def get_version(name: str, number: int) -> Call[m.Version]:
    """One version by its number."""
    return Call("GET", f"/v1/skills/{part(name)}/versions/{number}", as_(m.Version))


def history(name: str, *, cursor: str | None = None, limit: int | None = None) -> Call[m.Page[m.Version]]:
    """One page of versions, newest first."""
    params = {"cursor": cursor, "limit": limit}
    return Call("GET", f"/v1/skills/{part(name)}/versions", as_(m.Page[m.Version]), params=params)


def get_label(name: str, label: str) -> Call[m.Label]:
    """Where a label points, with the revision that `move_label` asks for."""
    return Call("GET", _label_path(name, label), as_(m.Label))


def list_labels(name: str, *, cursor: str | None = None, limit: int | None = None) -> Call[m.Page[m.Label]]:
    """One page of the labels of a skill."""
    return Call("GET", f"/v1/skills/{part(name)}/labels", as_(m.Page[m.Label]), params={"cursor": cursor, "limit": limit})


def query_labels(skills: Sequence[str], *, label: str = "production") -> Call[list[m.Label]]:
    """Where a label of many skills points, in one call; skills without it are left out."""
    read = as_(m.LabelList)
    body = {"skills": strings(skills), "label": label}
    return Call("POST", "/v1/labels/query", lambda response: read(response).labels, json=body)


def query_versions(ids: Sequence[str]) -> Call[list[m.Version]]:
    """Versions by id, in one call; ids that are not known are left out."""
    read = as_(m.VersionList)
    return Call("POST", "/v1/versions/query", lambda response: read(response).versions, json={"ids": strings(ids)})


def retire_many(names: Sequence[str], *, reason: str) -> Call[list[m.Skill]]:
    """Take many skills out of service: all, or none where one is not there."""
    read = as_(m.SkillList)
    body = {"skills": strings(names), "reason": reason}
    return Call("POST", "/v1/skills/retire", lambda response: read(response).skills, json=body)


def move_label(name: str, label: str, number: int, *, revision: int | None = None, reason: str = "") -> Call[m.Label]:
    """Point a label at another version. `revision` is the one you read, None for a new label; PreconditionFailed otherwise."""
    headers = {"If-None-Match": "*"} if revision is None else {"If-Match": f'"{revision}"'}
    body = {"number": number, "reason": reason}
    return Call("PUT", _label_path(name, label), as_(m.Label), json=body, headers=headers)


def remove_label(name: str, label: str, *, revision: int, reason: str = "") -> Call[None]:
    """Take a label away; nothing is served under it any more. PreconditionFailed where `revision` is not its own."""
    headers, params = {"If-Match": f'"{revision}"'}, {"reason": reason or None}
    return Call("DELETE", _label_path(name, label), as_nothing, params=params, headers=headers)


def list_label_moves(
    name: str, label: str, *, cursor: str | None = None, limit: int | None = None
) -> Call[m.Page[m.LabelMove]]:
    """One page of the moves of a label, newest first; of one that was removed too."""
    return Call(
        "GET", f"{_label_path(name, label)}/history", as_(m.Page[m.LabelMove]), params={"cursor": cursor, "limit": limit}
    )


def quarantine(name: str, reason: str) -> Call[m.Skill]:
    """Hold a skill back: no agent is shown it until `release`."""
    return Call("POST", f"/v1/skills/{part(name)}/quarantine", as_(m.Skill), json={"reason": reason})


def release(name: str) -> Call[m.Skill]:
    """Serve a skill again."""
    return Call("POST", f"/v1/skills/{part(name)}/release", as_(m.Skill))


def quarantine_version(
    name: str, number: int, reason: str, *, with_descendants: bool = False
) -> Call[m.VersionList]:
    """Hold a version back, with all that descends from it where asked."""
    body = {"reason": reason, "with_descendants": with_descendants}
    return Call("POST", f"/v1/skills/{part(name)}/versions/{number}/quarantine", as_(m.VersionList), json=body)


def release_version(name: str, number: int) -> Call[m.Version]:
    """Serve a version again."""
    return Call("POST", f"/v1/skills/{part(name)}/versions/{number}/release", as_(m.Version))


def descendants(version_id: str, *, cursor: str | None = None, limit: int | None = None) -> Call[m.Page[m.Version]]:
    """One page of what descends from a version, in whatever skill."""
    params = {"cursor": cursor, "limit": limit}
    return Call("GET", f"/v1/versions/{part(version_id)}/descendants", as_(m.Page[m.Version]), params=params)


def rollback(name: str, number: int, *, label: str = "production", message: str = "") -> Call[m.Version]:
    """A new version with the content of version `number`, under `label`."""
    body = {"number": number, "label": label, "message": message}
    return Call("POST", f"/v1/skills/{part(name)}/rollback", as_(m.Version), json=body)


def retire(name: str, *, reason: str) -> Call[m.Skill]:
    """Take the skill out of every search and context; its versions and history stay."""
    return Call("POST", f"/v1/skills/{part(name)}/retire", as_(m.Skill), json={"reason": reason})


def lineage(name: str) -> Call[m.Lineage]:
    """Where every version came from, rejected proposals included."""
    return Call("GET", f"/v1/skills/{part(name)}/lineage", as_(m.Lineage))


def blame(name: str, number: int) -> Call[m.Blame]:
    """For each line of a version: the version that brought it and the decision and evidence behind it."""
    return Call("GET", f"/v1/skills/{part(name)}/versions/{number}/blame", as_(m.Blame))


def export_skill(name: str, *, label: str | None = None, version: int | None = None) -> Call[bytes]:
    """Zip archive of the skill's folder, byte for byte as published."""
    params = {"label": label, "version": version}
    return Call("GET", f"/v1/skills/{part(name)}/export", as_bytes, params=params)


def import_skills(content: bytes, *, label: str = "production", kind: str = "skill") -> Call[m.Imports]:
    """Publish every skill folder of a zip; `results` says for each what became of it. Invalid where the zip is unsafe."""
    params, headers = {"label": label, "kind": kind}, {"Content-Type": "application/zip"}
    return Call("POST", "/v1/imports/zip", as_(m.Imports), params=params, content=content, headers=headers)


def export_skills(names: Sequence[str] = (), *, label: str = "production") -> Call[bytes]:
    """Zip archive of the folders of these skills, of all that are published where no name is given."""
    return Call("GET", "/v1/exports/zip", as_bytes, params={"name": strings(names), "label": label})


def events(*, after: int = 0, limit: int | None = None) -> Call[list[m.Event]]:
    """Events with a higher `seq`, oldest first."""
    read = as_(m.Page[m.Event])
    return Call("GET", "/v1/events", lambda response: read(response).items, params={"after": after, "limit": limit})


def ui_session() -> Call[m.UiSession]:
    """A short-lived signed link that opens the web view in a browser."""
    return Call("POST", "/v1/ui-sessions", as_(m.UiSession))


def _label_path(name: str, label: str) -> str:
    return f"/v1/skills/{part(name)}/labels/{part(label)}"
