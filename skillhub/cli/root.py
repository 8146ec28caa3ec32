"""The `skillhub` command; every module beside this one adds its own commands to it."""

import typer

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="The memory that trains with your agents."
)
