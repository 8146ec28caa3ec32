"""Turns an endpoint into a method, so that no endpoint is written twice."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, get_args

from skillhub_client.transport import Call

P = ParamSpec("P")
T = TypeVar("T")


class Sends(Protocol):
    """A client that blocks."""

    def send(self, call: Call[T]) -> T: ...


class SendsAsync(Protocol):
    """A client to await."""

    async def send(self, call: Call[T]) -> T: ...


def blocking(endpoint: Callable[P, Call[T]]) -> Callable[Concatenate[Sends, P], T]:
    """A method that sends the endpoint's call and returns its value."""

    def method(self: Sends, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(endpoint(*args, **kwargs))

    return _described(method, endpoint)


def awaited(endpoint: Callable[P, Call[T]]) -> Callable[Concatenate[SendsAsync, P], Awaitable[T]]:
    """The same, to be awaited."""

    async def method(self: SendsAsync, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(endpoint(*args, **kwargs))

    return _described(method, endpoint)


def _described(method: Callable[..., Any], endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Name, docstring and signature of the endpoint, for `help()` and editors."""
    method.__name__ = method.__qualname__ = endpoint.__name__
    method.__doc__ = endpoint.__doc__
    signature = inspect.signature(endpoint)
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *signature.parameters.values()]
    (value,) = get_args(signature.return_annotation)  # the T of Call[T]
    method.__signature__ = inspect.Signature(parameters, return_annotation=value)  # type: ignore[attr-defined]
    return method
