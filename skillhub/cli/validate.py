"""Skills judged by their format, without a hub."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillhub.cli.root import app
from skillhub.cli.terminal import expected_failures

if TYPE_CHECKING:
    from skillhub.folders import Verdict


@app.command()
@expected_failures
def validate(
    path: Annotated[Path, typer.Argument(help="A skill folder, its SKILL.md, a zip, or a folder of many skills.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")] = False,
) -> None:
    """Say whether skills are valid Agent Skills, and where they are not. Exit code 1 where one is not."""
    from skillhub.folders import judged

    verdicts = judged(path)
    typer.echo(json.dumps(_as_json(verdicts), ensure_ascii=False) if as_json else "\n".join(_said(verdicts)))
    raise typer.Exit(0 if all(verdict.valid for verdict in verdicts) else 1)


def _as_json(verdicts: list["Verdict"]) -> dict[str, Any]:
    """One skill's verdict; of several the overall one, with each beside it."""
    skills = [{"path": v.path, "valid": v.valid, "errors": v.errors, "warnings": v.warnings} for v in verdicts]
    whole: dict[str, Any] = {"valid": all(verdict.valid for verdict in verdicts)}
    for key in ("errors", "warnings"):
        whole[key] = [item for skill in skills for item in skill[key]]
    return whole | ({"skills": skills} if len(skills) > 1 else {})


def _said(verdicts: list["Verdict"]) -> list[str]:
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.path}: {'valid' if verdict.valid else 'not valid'}")
        for kind, items in (("error", verdict.errors), ("warning", verdict.warnings)):
            lines += [f"  {kind}{_place(item)}: {item['message']}" for item in items]
    return lines


def _place(item: dict[str, Any]) -> str:
    path = item.get("path", "/document").removeprefix("/files/")
    place = "" if path == "/document" else f" in {path}"
    return place if item["line"] is None else f"{place}, line {item['line']}"
