"""A client without a server, for tests of agents: rules from documents, records in memory."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from hgmem.api.errors import ConnectionFailed
from hgmem.rules import Rule, Ruleset
from hgmem.runtime.bundle import Bundle
from hgmem.runtime.client import Runtime
from hgmem.runtime.deciding import Decider
from hgmem.runtime.refresh import RulesCopy


class OfflineClient(Runtime):
    """Decides from ``rules`` (documents as ``docs/rules.md`` has them) as any client does.

    ``documents`` are the experience documents that a server would have got, in order; ``decisions`` the notes
    of decisions. Raises :class:`hgmem.rules.RuleError` for a rule that is wrong.
    """

    def __init__(self, rules: Iterable[Mapping[str, Any]] = (), **settings: Any) -> None:
        super().__init__("http://127.0.0.1:9", "hgm_offline", **settings)
        self.documents: list[dict[str, Any]] = []
        self.decisions: list[dict[str, Any]] = []
        self.rules = _Fixed(self, rules)
        self.decider = Decider(self.settings, self.rules, _away, self._note)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The recorded calls of all tasks."""
        return [call for document in self.documents for call in document.get("calls", ())]

    def record(self, document: Mapping[str, Any]) -> bool:
        """Keep the document; one that is no JSON raises TypeError, as a test should."""
        self.documents.append(json.loads(json.dumps(document)))
        return True

    def flush(self, timeout_s: float = 5.0) -> bool:
        """There is nothing to wait for."""
        return True

    def close(self) -> None:
        """Let everything go."""
        self._close(0.0)

    def _note(self, decision: dict[str, Any]) -> bool:
        self.decisions.append(decision)
        return True


class _Fixed(RulesCopy):
    """Rules that never change."""

    def __init__(self, client: OfflineClient, documents: Iterable[Mapping[str, Any]]) -> None:
        super().__init__(client.settings, _away)
        rules = [
            Rule.from_document({"uuid": f"rule-{number}", **document})
            for number, document in enumerate(documents, 1)
        ]
        self.bundle = Bundle("", "offline", "offline", Ruleset.compile(rules, version="offline"), {})

    def start(self) -> None:
        """Nothing to look after."""

    def refresh(self) -> bool:
        """Nothing to ask for."""
        return False


def _away(_asked: Any) -> NoReturn:
    raise ConnectionFailed("there is no server")
