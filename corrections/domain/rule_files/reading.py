"""Files to rules: every fault with its file, line, rule and field; nothing is half read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from corrections.domain.documents import body_of, read_document
from corrections.domain.rule_files.faults import MAX_FAULTS, Fault, RuleFileError
from corrections.domain.rule_files.json_text import read_json
from corrections.domain.rule_files.tree import Path, Tree, TreeError
from corrections.domain.rule_files.yaml_text import read_yaml
from hgmem.rules import RuleError

FORMAT = "hgmem-rules/1"
STATUSES = ("active", "disabled", "draft")
"""What a file may want of a rule. An expired rule is written as disabled."""
MAX_FILES = 5_000
MAX_RULES = 20_000
MAX_CHARS = 10_000_000
_STEP = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True)
class SourceFile:
    """A file's name, as people know it, and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class FileRule:
    """One rule of a file. ``uuid`` is empty when the file has none; ``body`` is the canonical document."""

    place: str
    uuid: str
    name: str
    status: str
    body: dict[str, Any]

    @property
    def tool(self) -> str:
        """The tool its scope names."""
        return str(self.body["applies_to"]["tool"])


def read_rule_files(files: Iterable[SourceFile]) -> list[FileRule]:
    """The rules of all files. A file holds one rule, a list, or ``{format, rules}``, as YAML or JSON.

    Raises :class:`RuleFileError` with every fault of every file.
    """
    chosen = list(files)
    _check_sizes(chosen)
    faults: list[Fault] = []
    rules: list[FileRule] = []
    for file in chosen:
        _read_file(file, rules, faults)
        if len(faults) >= MAX_FAULTS:
            break
    if len(rules) > MAX_RULES:
        faults.append(Fault("", None, "", "", f"There are more than {MAX_RULES:,} rules."))
    faults += _claimed_twice(rules)
    if faults:
        raise RuleFileError(faults)
    return rules


def _check_sizes(files: list[SourceFile]) -> None:
    if not files:
        raise RuleFileError([Fault("", None, "", "", "There is no file of rules here.")])
    if len(files) > MAX_FILES:
        raise RuleFileError([Fault("", None, "", "", f"There are more than {MAX_FILES:,} files.")])
    if sum(len(file.text) for file in files) > MAX_CHARS:
        raise RuleFileError([Fault("", None, "", "", f"The files have more than {MAX_CHARS:,} characters.")])


def _read_file(file: SourceFile, rules: list[FileRule], faults: list[Fault]) -> None:
    try:
        text = file.text.removeprefix("\ufeff")
        tree = read_json(text) if _is_json(file) else read_yaml(text)
        items = _items(tree)
    except TreeError as error:
        faults.append(Fault(file.name, error.line, "", "", str(error)))
        return
    for index, (path, item) in enumerate(items):
        _read_rule(_Place(file.name, tree, path, _title(index, item)), item, rules, faults)


def _is_json(file: SourceFile) -> bool:
    """By its name; a text without a telling name, by how it starts."""
    if file.name.endswith((".json", ".yaml", ".yml")):
        return file.name.endswith(".json")
    return file.text.lstrip()[:1] in ("{", "[")


def _items(tree: Tree) -> list[tuple[Path, Any]]:
    value = tree.value
    if isinstance(value, dict) and "rules" in value:
        if value.get("format", FORMAT) != FORMAT:
            raise TreeError(f"the format must be {FORMAT}", tree.line_of(("format",)))
        unknown = sorted(value.keys() - {"format", "rules"})
        if unknown:
            raise TreeError(f"{unknown[0]!r} is not known beside rules", tree.line_of((unknown[0],)))
        if not isinstance(value["rules"], list):
            raise TreeError("rules must be a list", tree.line_of(("rules",)))
        return [(("rules", index), item) for index, item in enumerate(value["rules"])]
    if isinstance(value, list):
        return [((index,), item) for index, item in enumerate(value)]
    if value is None:
        return []
    return [((), value)]


def _title(index: int, item: Any) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return f"rule {index + 1} ({name[:60]})" if isinstance(name, str) and name else f"rule {index + 1}"


@dataclass(frozen=True)
class _Place:
    """Where a rule stands, for its faults."""

    file: str
    tree: Tree
    path: Path
    title: str

    def fault(self, field: str, detail: str) -> Fault:
        steps = [int(step) if step.isdigit() else step for step in _STEP.findall(field)]
        return Fault(self.file, self.tree.line_of((*self.path, *steps)), self.title, field, detail)

    def __str__(self) -> str:
        line = self.tree.line_of(self.path)
        return f"{self.file}:{line}" if line else f"{self.file}, {self.title}"


def _read_rule(place: _Place, item: Any, rules: list[FileRule], faults: list[Fault]) -> None:
    if not isinstance(item, dict):
        faults.append(place.fault("", "A rule is an object with names and values."))
        return
    found: list[Fault] = []
    uuid, status = item.get("uuid"), item.get("status", "active")
    if uuid is not None and not _is_uuid(uuid):
        found.append(place.fault("uuid", "This is no uuid; leave it out for a new rule."))
    if status not in STATUSES:
        found.append(place.fault("status", f"must be one of {', '.join(STATUSES)}"))
    try:
        rule = read_document({k: v for k, v in item.items() if k not in ("uuid", "status")}, author="human")
        if not rule.name:
            found.append(place.fault("name", "A rule in a file needs a name: it is known by it."))
    except RuleError as error:
        found += [place.fault(fault["field"], fault["detail"]) for fault in error.errors]
    if found:
        faults += found
        return
    text = str(UUID(uuid)) if uuid else ""
    rules.append(FileRule(str(place), text, rule.name, status, body_of(rule)))


def _is_uuid(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _claimed_twice(rules: list[FileRule]) -> list[Fault]:
    """Two places that mean one rule: by uuid, or by name, tool and point where one has no uuid."""
    faults: list[Fault] = []
    by_uuid: dict[str, FileRule] = {}
    for rule in rules:
        if rule.uuid and (other := by_uuid.setdefault(rule.uuid, rule)) is not rule:
            faults.append(Fault(rule.place, None, rule.name, "uuid", f"{other.place} is the same rule."))
    named: dict[tuple[str, str, str], FileRule] = {}
    for rule in sorted(rules, key=lambda each: bool(each.uuid)):
        key = (rule.name, rule.tool, str(rule.body["applies_to"]["point"]))
        other = named.setdefault(key, rule)
        if other is not rule and not (other.uuid and rule.uuid):
            faults.append(
                Fault(
                    rule.place,
                    None,
                    rule.name,
                    "name",
                    f"{other.place} has the same name and tool; give a uuid.",
                )
            )
    return faults
