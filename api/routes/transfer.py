"""Skill folders in and out as zips, many at once."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from api.deps import ScopeDep
from api.idempotency import OnceDep
from api.schemas.skills import Kind
from api.schemas.transfer import ImportOut
from skillhub.services import imports
from skillhub.services.labels import PRODUCTION

router = APIRouter(prefix="/v1", tags=["transfer"])

MAX_NAMES = 1000
IN_MEMORY_BYTES = 8 * 1024 * 1024
"""A larger export goes through a temporary file."""
CHUNK_BYTES = 64 * 1024
_ZIP = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}


async def _raw(request: Request) -> bytes:
    return await request.body()


@router.post("/imports/zip", openapi_extra={"requestBody": {"required": True, "content": _ZIP}})
def import_zip(
    content: Annotated[bytes, Depends(_raw)],
    once: OnceDep,
    label: Annotated[str, Query(max_length=36)] = PRODUCTION,
    kind: Kind = "skill",
) -> ImportOut:
    """Publish every skill folder of a zip; a folder that is refused keeps no other back, and its fault is in the answer.

    422 or 413 where the zip itself is unsafe, broken, too large or holds no skill: then nothing is written.
    """
    return once(ImportOut, lambda scope: ImportOut.of(imports.import_zip(scope, content, kind=kind, label=label)))


@router.get("/exports/zip", response_class=StreamingResponse, responses={200: {"content": _ZIP}})
def export_zip(
    scope: ScopeDep,
    name: Annotated[list[str] | None, Query(max_length=MAX_NAMES, description="Names of skills; all without one")] = None,
    label: Annotated[str, Query(max_length=36)] = PRODUCTION,
) -> StreamingResponse:
    """A zip of the folders of these skills, or of all that are published, as they stand under a label."""
    file = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - it is closed when it has been sent
    try:
        imports.export_many(scope, names=name or [], label=label, into=file)
    except BaseException:
        file.close()
        raise
    headers = {"Content-Disposition": 'attachment; filename="skills.zip"', "Content-Length": str(file.tell())}
    file.seek(0)
    return StreamingResponse(_sent(file), media_type="application/zip", headers=headers)


def _sent(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
