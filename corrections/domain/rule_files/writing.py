"""Rules to files, in an order that stays: by tool, point, name, uuid; defaults are left out."""

import re
from collections.abc import Iterable
from typing import Any

from corrections.domain.diff import ORDER
from corrections.domain.documents import body_of, read_document
from corrections.domain.rule_files.json_text import write_json
from corrections.domain.rule_files.planning import KeptRule
from corrections.domain.rule_files.reading import FORMAT, SourceFile
from corrections.domain.rule_files.yaml_text import write_yaml
from hgmem.rules import Rule, RuleError

FORMATS = ("yaml", "json")
_UNFIT = re.compile(r"[^a-z0-9]+")
_WRITERS = {"yaml": write_yaml, "json": write_json}


def write_rule_file(rules: Iterable[KeptRule], format: str) -> str:
    """All rules as one text: ``{format, rules}``."""
    ordered = sorted(rules, key=_order)
    return _WRITERS[format]({"format": FORMAT, "rules": [_entry(rule) for rule in ordered]})


def write_rule_folder(rules: Iterable[KeptRule], format: str) -> list[SourceFile]:
    """One file a rule, named after tool, name and the start of its uuid: its changes stay in its own file."""
    return [
        SourceFile(
            f"{_slug(rule.tool)}--{_slug(rule.name)}--{rule.uuid[:8]}.{format}",
            _WRITERS[format](_entry(rule)),
        )
        for rule in sorted(rules, key=_order)
    ]


def _order(rule: KeptRule) -> tuple[str, str, str, str]:
    return rule.tool, rule.point, rule.name, rule.uuid


def _slug(text: str) -> str:
    return _UNFIT.sub("-", text.lower()).strip("-")[:60] or "any"


def _entry(rule: KeptRule) -> dict[str, Any]:
    document = compact(rule.wanted_body)
    document["name"] = rule.name
    named = [name for name in ORDER if name in document] + sorted(document.keys() - set(ORDER))
    head = {"uuid": rule.uuid, "name": rule.name, "status": rule.file_status}
    return head | {name: document[name] for name in named if name != "name"}


def compact(body: dict[str, Any]) -> dict[str, Any]:
    """A stored document without what reading it would add again. One that cannot be read is kept whole."""
    try:
        rule = read_document(body, author="human")
    except RuleError:
        return body
    short = rule.model_dump(mode="json", exclude_defaults=True, exclude={"action", "uuid", "created_by"})
    document = {name: value for name, value in short.items() if name in body_of(rule)}
    return document | {"action_type": rule.action.action_type, "action_detail": _detail(rule)}


def _detail(rule: Rule) -> dict[str, Any]:
    detail = rule.action.action_detail
    short: dict[str, Any] = detail.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    operations = getattr(detail, "operations", ())
    if operations:
        parts = zip(operations, short["operations"], strict=True)
        short["operations"] = [{"op": operation.op, **part} for operation, part in parts]
    return short
