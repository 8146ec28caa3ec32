"""`Idempotency-Key` on every POST that creates: the same key with the same request gets the stored answer.

A route asks for `once: OnceDep` in place of a scope and returns `once(Out, lambda scope: use_case(scope, ...))`. Without the
header the use case runs as usual.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from api.deps import ScopeDep
from skillhub.hashing import sha256_bytes, sha256_json
from skillhub.services import idempotency
from skillhub.services.scope import Scope

Out = TypeVar("Out", bound=BaseModel)
KeyHeader = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


@dataclass(frozen=True)
class Once:
    """Runs a use case at most once for each key of a workspace."""

    scope: Scope
    response: Response
    key: str | None
    request_sha256: str
    status: int

    def __call__(self, out: type[Out], use_case: Callable[[Scope], Out]) -> Out:
        """The answer of `use_case`, which returns a model of type `out`; its transactions become one."""
        if self.key is None:
            return use_case(self.scope)
        body, replayed = idempotency.once(
            self.scope,
            key=self.key,
            request_sha256=self.request_sha256,
            status=self.status,
            use_case=lambda scope: use_case(scope).model_dump(mode="json"),
        )
        if replayed:
            self.response.headers["Idempotency-Replayed"] = "true"
        return out.model_validate(body)


async def get_once(request: Request, response: Response, scope: ScopeDep, idempotency_key: KeyHeader = None) -> Once:
    body = sha256_bytes(await request.body())
    return Once(
        scope=scope,
        response=response,
        key=idempotency_key,
        request_sha256=sha256_json([request.method, request.url.path, request.url.query, body]),
        status=request.scope["route"].status_code or 200,
    )


OnceDep = Annotated[Once, Depends(get_once)]
