"""Serves the application and, on SIGTERM, ends without cutting anyone off: another process may listen on the same socket."""

import asyncio
import gc
import socket

import uvicorn
from fastapi import FastAPI

LAST_REQUESTS_SECONDS = 0.5
"""Between no longer accepting and closing idle connections: what was sent to this process by then is still answered."""


class Server(uvicorn.Server):
    """uvicorn closes connections in the moment it stops accepting, and resets those whose request it has not read yet."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        await asyncio.sleep(LAST_REQUESTS_SECONDS)
        await super().shutdown(sockets)


def keep_what_is_loaded() -> None:
    """Modules and tables of the start live as long as the process: the collector need not walk over them again and again."""
    gc.collect()
    gc.freeze()


def serve(app: FastAPI, *, host: str, port: int, fd: int | None) -> None:
    """Serve until SIGTERM or SIGINT on an inherited listening socket, or on host and port.

    Requests in flight get `shutdown_seconds`; streams and what takes longer are ended then.
    """
    keep_what_is_loaded()
    seconds = app.state.settings.shutdown_seconds
    config = uvicorn.Config(app, host=host, port=port, log_config=None, access_log=False, timeout_graceful_shutdown=seconds)
    Server(config).run(sockets=None if fd is None else [socket.socket(fileno=fd)])
