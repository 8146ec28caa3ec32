"""The hub as MCP tools on standard input and output, for agents on this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from skillhub.cli.root import app
from skillhub.cli.terminal import DEFAULT_DATA_DIR, DataDir, Key, Url, expected_failures, hub_address


@app.command()
@expected_failures
def mcp(url: Url = "", key: Key = "", data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Serve search, contexts, outcomes and proposals as MCP tools over stdio; an agent starts this."""
    from skillhub_client import AsyncClient

    from api import tools

    address = hub_address(url, key, data_dir)

    @asynccontextmanager
    async def hub(context: Any) -> AsyncIterator[AsyncClient]:
        async with AsyncClient(*address) as client:
            yield client

    tools.server(hub).run("stdio")
