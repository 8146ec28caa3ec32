"""Many skills at once, as streams of JSON lines."""

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from sqlalchemy.exc import OperationalError

from api import ndjson, problems
from api.deps import ScopeDep
from api.schemas.bulk import read, written
from api.schemas.skills import Kind
from skillhub.documents.skillmd import MAX_NAME
from skillhub.errors import Invalid, SkillhubError, Unavailable
from skillhub.services import bulk
from skillhub.services.bulk import BATCH, Result
from skillhub.services.labels import PRODUCTION
from skillhub.services.scope import Scope

router = APIRouter(tags=["bulk"])

IMPORT_PATH = "/v1/imports/ndjson"
MAX_BODY_BYTES = 4 * 1024**3
_LINE = {"name": "boil-water", "document": "---\nname: boil-water\ndescription: Boil water.\n---\n\n# Boil\n"}
_BODY = {"required": True, "content": ndjson.documented("Skills, one JSON object a line", _LINE)}
_RESULT = {"line": 1, "skill": "boil-water", "number": 1, "version_id": "ver_01kd3g7n2m8r4t6v0x1y3z5a7b"}
_RESULTS = {200: {"content": ndjson.documented("What became of each line", _RESULT), "description": "JSON lines"}}
_LINES = {200: {"content": ndjson.documented("Skills, as an import takes them", _LINE), "description": "JSON lines"}}


@router.post(
    IMPORT_PATH, response_class=StreamingResponse, responses=_RESULTS, openapi_extra={"requestBody": _BODY}
)
def import_ndjson(request: Request, scope: ScopeDep) -> ndjson.Answer:
    """Publish skills, one a line; each is answered in order by a line `{line, skill, number, version_id}` or `{line, error}`.

    A line that is refused keeps no other back. Up to 2,000 lines are one transaction, and are answered after its commit; a
    connection that breaks leaves whole batches. Sending the same lines again changes nothing where each skill stands in one of
    them: content that its label has already is left alone, so no `Idempotency-Key` is needed. A line has at most 32 MiB, a
    body 4 GiB.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != ndjson.MEDIA_TYPE:
        raise Invalid(f"send the lines as {ndjson.MEDIA_TYPE}", path="/headers/Content-Type")
    lines = ndjson.lines(request.stream(), most=MAX_BODY_BYTES)
    return ndjson.Answer(_results(scope, ndjson.batches(lines, most=BATCH)))


def _results(scope: Scope, batches: Iterator[list[bytes | SkillhubError]]) -> Iterator[bytes]:
    """The lines that answer each batch; one that ends it all in the place of what could not be read or written."""
    number = 0
    try:
        for results in bulk.publish_all(scope, ([read(line) for line in batch] for batch in batches)):
            yield b"".join(_answered(number + at, result) for at, result in enumerate(results, 1))
            number += len(results)
    except SkillhubError as error:
        yield _answered(number + 1, error)
    except OperationalError:
        yield _answered(number + 1, Unavailable("the database is not reachable: send the rest again"))


def _answered(line: int, result: Result) -> bytes:
    shown = {"error": problems.of(result)} if isinstance(result, SkillhubError) else result._asdict()
    return ndjson.encode({"line": line} | shown)


@router.get("/v1/exports/ndjson", response_class=StreamingResponse, responses=_LINES)
def export_ndjson(
    scope: ScopeDep,
    kind: Kind | None = None,
    state: Literal["published", "quarantined", "retired"] | None = "published",
    label: str = PRODUCTION,
    prefix: Annotated[str, Query(max_length=MAX_NAME, description="What the names begin with")] = "",
) -> StreamingResponse:
    """All skills under a label, by name, one a line, as an import takes them; one snapshot of the store."""
    lines = bulk.export(scope, label=label, kind=kind, state=state, prefix=prefix)
    return StreamingResponse(ndjson.joined(ndjson.encode(written(line)) for line in lines), media_type=ndjson.MEDIA_TYPE)
