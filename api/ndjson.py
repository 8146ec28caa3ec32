"""Streams of JSON lines in and out: a body is read line by line and answered while it comes, and neither is ever held whole."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import anyio
from anyio import from_thread
from anyio.abc import ObjectSendStream
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from skillhub.errors import SkillhubError, TooLarge

MEDIA_TYPE = "application/x-ndjson"
MAX_LINE_BYTES = 32 * 1024 * 1024
BATCH_BYTES = 8 * 1024 * 1024
PART_BYTES = 64 * 1024


def documented(said: str, line: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI `content` of a stream, with one line as the example."""
    return {MEDIA_TYPE: {"schema": {"type": "string", "description": said}, "example": json.dumps(line) + "\n"}}


class Answer(StreamingResponse):
    """A stream that is made while the request's body is still read.

    Starlette listens for a disconnect by reading the body away, so this does not. What is made waits in memory until the caller
    takes it: many clients read nothing before they have sent all, and waiting for them would hold both sides for ever.
    """

    media_type = MEDIA_TYPE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        made, taken = anyio.create_memory_object_stream[bytes](float("inf"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._make, self.body_iterator, made)
            self.body_iterator = taken
            await self.stream_response(send)

    async def _make(self, body: AsyncIterator[bytes], made: ObjectSendStream[bytes]) -> None:
        with made:
            try:
                async for part in body:
                    made.send_nowait(part)
            except ClientDisconnect:
                pass  # nobody is left to be told


def lines(chunks: AsyncIterator[bytes], *, most: int) -> Iterator[bytes | SkillhubError]:
    """The lines of a body; for a thread of the application's pool. TooLarge in the place of a line that is too long.

    Raises TooLarge where the body has more than `most` bytes.
    """
    total, line = 0, _Line()
    for chunk in _pulled(chunks):
        total += len(chunk)
        if total > most:
            raise TooLarge(f"the body is larger than {most} bytes")
        first, *others = chunk.split(b"\n")
        line.add(first)
        for other in others:
            yield line.taken()
            line.add(other)
    if line.size:
        yield line.taken()


class _Line:
    """A line that comes in pieces; those beyond the limit are let go."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, part: bytes) -> None:
        self.size += len(part)
        if self.size <= MAX_LINE_BYTES:
            self.parts.append(part)

    def taken(self) -> bytes | SkillhubError:
        """The line; the next begins."""
        whole, size = b"".join(self.parts), self.size
        self.parts, self.size = [], 0
        return whole if size <= MAX_LINE_BYTES else TooLarge(f"a line has more than {MAX_LINE_BYTES} bytes")


def _pulled(chunks: AsyncIterator[bytes]) -> Iterator[bytes]:
    async def pull() -> bytes | None:
        return await anext(chunks, None)

    while (chunk := from_thread.run(pull)) is not None:
        yield chunk


def batches(found: Iterable[bytes | SkillhubError], *, most: int) -> Iterator[list[bytes | SkillhubError]]:
    """Up to `most` lines at a time, or as many as reach 8 MiB."""
    batch: list[bytes | SkillhubError] = []
    size = 0
    for line in found:
        batch.append(line)
        size += len(line) if isinstance(line, bytes) else 0
        if len(batch) == most or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def joined(encoded: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in parts of 64 KiB: each part that is sent costs a change of threads."""
    parts: list[bytes] = []
    size = 0
    for line in encoded:
        parts.append(line)
        size += len(line)
        if size >= PART_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def encode(item: dict[str, Any]) -> bytes:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
