"""A framework that is not installed: the error says what to install."""

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
        ("langchain", "langchain.agents.middleware.types", "langchain"),
        ("llamaindex", "llama_index.core.tools", "llamaindex"),
        ("autogen", "autogen_core", "autogen"),
        ("ag2", "ag2", "ag2"),
        ("openai_agents", "agents", "openai-agents"),
        ("openai_agents_hooks", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("crewai", "crewai.hooks", "crewai"),
        ("claude_agent_sdk", "claude_agent_sdk", "claude"),
    ],
)
def test_integration__framework_is_missing__says_what_to_install(
    module: str, framework: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"hgmem.integrations.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(ImportError, match=rf"pip install 'hgmem\[{extra}\]'"):
        importlib.import_module(name)
