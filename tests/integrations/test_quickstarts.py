"""The quickstarts, run exactly as printed against a real server: a failure, a rule, no failure any more."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from corrections.actions.rules import activate_rule, draft_rule
from memory.models import Task, ToolCall
from memory.permissions import SYSTEM
from tests.conftest import Cast, make_key
from tests.integrations.conftest import is_there
from tests.integrations.printed import PAGES, Program, read_page, second_python

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = {
    "openai-agents": "agents", "pydantic-ai": "pydantic_ai", "plain-loops": "hgmem", "langchain": "langchain",
    "langgraph": "langgraph", "llamaindex": "llama_index.core", "ag2": "ag2", "mcp": "mcp",
    "claude-agent-sdk": "claude_agent_sdk",
}  # fmt: skip
"""Pages of frameworks of this environment, and the module each needs."""
SECOND = {"crewai": "crewai", "autogen": "autogen_core"}
"""Pages of frameworks of the second environment."""


FRAMEWORK = {"plain-loops": ""}
"""What a task says where that is not the name of the page."""


def python_for(page: str) -> str:
    """An interpreter that has what the page's program needs; skips, or fails where it must be there."""
    found = (sys.executable if is_there(FIRST[page]) else "") if page in FIRST else second_python()
    if not found:
        must = page in os.environ.get("HGMEM_TEST_AGENTS", "").split(",")
        (pytest.fail if must else pytest.skip)(f"there is no interpreter here for the page {page}")
    return found


@pytest.mark.parametrize("name", [*FIRST, *SECOND])
def test_quickstart__as_printed__fails_first_and_works_with_the_rule(
    name: str, cast: Cast, live_server: Any, tmp_path: Path
) -> None:
    python, page = python_for(name), read_page(name)
    to = {"url": live_server.url, "key": make_key(cast.workspace)}

    with Program(page, tmp_path, python, **to) as program:
        assert program.run() == page.before
        draft = draft_rule(workspace_id=cast.workspace.pk, document=page.rule, by=SYSTEM)
        activate_rule(rule=draft, by=SYSTEM)
        assert program.run() == page.after

    first, second = ToolCall.objects.order_by("pk")
    assert [first.status, second.status] == ["error", "ok"]
    assert second.input == {"city": "Shanghai"}
    goals = set(Task.objects.values_list("framework", "goal"))
    goal = "" if name == "mcp" else "What is the weather like?"  # the protocol has no word for it
    assert goals == {(FRAMEWORK.get(name, name), goal)}


def test_quickstarts__each_page__is_run_and_in_the_index() -> None:
    written = {path.stem for path in PAGES.glob("*.md")} - {"README"}
    assert written == {*FIRST, *SECOND}
    index = (PAGES / "README.md").read_text()
    assert [name for name in written if f"({name}.md)" not in index] == []
