"""The `skillhub` command. Each module imports what a command needs inside it, so that `--help` is quick."""

from skillhub.cli import audit, backup, circle, mcp, optimise, servers, transfer, validate
from skillhub.cli.root import app

__all__ = ["app", "audit", "backup", "circle", "mcp", "optimise", "servers", "transfer", "validate"]
