"""The reference of the API for people: one page made from the OpenAPI document; it loads nothing from anywhere else."""

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from api import contract
from api.routes.web import html

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def show_docs(request: Request) -> HTMLResponse:
    """Every operation with what it takes, an example and a curl."""
    document = request.app.openapi()
    shown = [_shown(path, method, operation) for path, method, operation in contract.operations(document)]
    return html("docs.html", info=document["info"], operations=shown)


def _shown(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of an operation."""
    answers = [(code, answer) for code, answer in sorted(operation["responses"].items()) if code < "300"]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
    return {
        "path": path,
        "method": method.upper(),
        "said": operation.get("description", ""),
        "parameters": operation["parameters"],
        "errors": [code for code in sorted(operation["responses"]) if code >= "400"],
        "curl": _curl(path, method, operation, body),
        "answers": [(code, _pretty(answer)) for code, answer in answers],
    }


def _curl(path: str, method: str, operation: dict[str, Any], body: Any) -> str:
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", str(parameter["example"]))
    lines = [f'curl "$SKILLHUB_URL{path}"', *([f"-X {method.upper()}"] if method != "get" else [])]
    if "security" in operation:
        lines.append('-H "Authorization: Bearer $SKILLHUB_API_KEY"')
    if body is not None:
        said = json.dumps(body, ensure_ascii=False).replace("'", "'\\''")
        lines += ["-H 'Content-Type: application/json'", f"-d '{said}'"]
    return " \\\n  ".join(lines)


def _pretty(answer: dict[str, Any]) -> str:
    content = answer.get("content", {}).get("application/json", {})
    return json.dumps(content["example"], ensure_ascii=False, indent=2) if "example" in content else ""
