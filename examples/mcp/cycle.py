"""One governed change through the public MCP client library of Python: analyse, start, edit, analyse, finish.

    pip install mcp
    python examples/mcp/cycle.py /path/to/repository src/file.py

The file gets one more blank line at its end. `probity` must be on the path.
"""

import asyncio
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def cycle(root: str, file: str) -> bool:
    server = StdioServerParameters(command="probity", args=["mcp"], cwd=root)
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()

        async def call(tool: str, **arguments: object) -> dict:
            answer = await session.call_tool(tool, arguments)
            return answer.structured_content

        await call("analyze_repository")
        started = await call("start_controlled_change", intent="one more line", allowed_files=[file], agent="cycle.py")
        print("start: ", started["status"], "-", started["message"])
        if not started["edit_allowed"]:
            return False
        with Path(root, file).open("a") as source:
            source.write("\n")
        await call("analyze_repository")
        finished = await call(
            "finish_controlled_change",
            intent_id=started["intent_id"],
            owner=started["owner"],
            changed_files=[file],
            claims_text="No regressions.",
        )
        print("finish:", finished["status"], "-", finished["message"])
        return finished["status"] == "accepted"


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(cycle(*sys.argv[1:3])) else 1)
