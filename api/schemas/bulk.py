"""Lines of the bulk streams."""

import base64
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from api.problems import invalid
from api.schemas.base import Text
from api.schemas.skills import Message, SkillIn
from skillhub.errors import SkillhubError
from skillhub.services.bulk import Line
from skillhub.services.labels import PRODUCTION


class LineIn(SkillIn):
    """One skill of an import; the answer to an export has the same lines."""

    label: Text | None = Field(default=PRODUCTION, description="A label to move to the version besides `latest`; null for none")
    message: Message = "imported"


def read(line: bytes | SkillhubError) -> Line | SkillhubError:
    """What a line says; the error in its place where it says nothing we know."""
    if isinstance(line, SkillhubError):
        return line
    try:
        body = LineIn.model_validate_json(line)
        return Line(**body.model_dump(exclude={"files"}), files=body.bundled())
    except ValidationError as error:
        return invalid(RequestValidationError(error.errors(include_context=False)))
    except SkillhubError as error:
        return error


def written(line: Line) -> dict[str, Any]:
    """The line as an import takes it."""
    files = [
        {"path": path, "mode": mode, "content_base64": base64.b64encode(content).decode()} for path, mode, content in line.files
    ]
    facts = {"name": line.name, "kind": line.kind, "document": line.document, "files": files}
    return facts | {"label": line.label, "message": line.message}
