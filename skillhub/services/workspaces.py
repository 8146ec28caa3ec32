"""What is in a workspace."""

from dataclasses import dataclass

from skillhub.models import Workspace
from skillhub.services.scope import Scope
from skillhub.store import workspaces


@dataclass(frozen=True)
class WorkspaceView:
    """A workspace, and how many rows of each kind it has."""

    workspace: Workspace
    counts: dict[str, int]


def get(scope: Scope) -> WorkspaceView:
    with scope.transaction() as unit:
        workspace = unit.session.get_one(Workspace, unit.workspace_id)
        return WorkspaceView(workspace, workspaces.counts(unit.session, unit.workspace_id))
