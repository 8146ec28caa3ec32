"""The demo: the whole circle in a real simulator."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from skillhub.cli.root import app
from skillhub.cli.terminal import (
    DataDir,
    complain,
    expected_failures,
    say,
    stopped_by_signals,
)
from skillhub.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from skillhub.stack import Stack

DEMO_DATA_DIR = Path(".skillhub-demo")
"""The demo's own, so that it uses nothing up in yours."""


@app.command()
@expected_failures
def demo(
    tasks: Annotated[str | None, typer.Option(help="ScienceWorld task types, with commas between.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")] = False,
    data_dir: DataDir = DEMO_DATA_DIR,
) -> None:
    """Walk the whole circle in a real simulator: episodes, candidates, gate, versions, contexts."""
    try:
        from demo import circle
    except ModuleNotFoundError as error:
        raise Unavailable(f"the demo needs {error.name}: pip install 'skillhub[demo]'") from error
    names = circle.TASKS if tasks is None else [name.strip() for name in tasks.split(",") if name.strip()]
    if not names:
        raise Invalid("--tasks names no task type")
    try:
        with stopped_by_signals(), circle.walked(names, data_dir=data_dir, say=say) as (report, stack):
            typer.echo(json.dumps(report.as_json(), indent=2) if as_json else report.text())
            if _in_terminal():
                _serve_on(stack)
    except KeyboardInterrupt:
        complain("interrupted")
        raise typer.Exit(130) from None
    again = f"--data-dir {data_dir}"
    say(f"The link holds for a day while the hub runs: skillhub up {again} --port {urlsplit(report.url).port}")
    say(f"A key to its workspace, while it runs: skillhub key me --workspace {report.workspace} {again}")


def _in_terminal() -> bool:
    return sys.stdout.isatty()


def _serve_on(stack: "Stack") -> None:
    say("The hub serves on, so that you can open the link; Ctrl-C stops it.")
    with suppress(KeyboardInterrupt):
        stack.watch()
