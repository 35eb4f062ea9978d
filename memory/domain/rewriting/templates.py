"""Standard repairs for a failure of a known kind, spliced in at the failing node.

The last resort where no memory helps: what to do about a time-out, a missing value, a refused value or a
refused write is the same everywhere. A person still has to agree. It knows English and Chinese words.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from memory.domain.paths.checking import MAX_NAME
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain
from memory.domain.rewriting.align_edits import FailurePoint, place_of
from memory.domain.rewriting.align_path import same_steps
from memory.domain.rewriting.proposal import Rewrite, apply

TemplateName = Literal[
    "retry-then-fallback", "ask-when-missing", "confirm-before-write", "validate-then-call"
]
MAX_SAID = 200

_KINDS: tuple[tuple[TemplateName, re.Pattern[str]], ...] = (
    (
        "retry-then-fallback",
        re.compile(
            r"(?i)\btime(?:d)?[ -]?out\b|\bunavailable\b|\bconnection\b|\brate limit|\btoo many requests\b"
            r"|\bbusy\b|\btemporar(?:y|ily)\b|\bHTTP (?:408|425|429|5[0-9]{2})\b|\bbad gateway\b"
            r"|\binternal server error\b|超时|不可用|繁忙|限流|稍后再试|连接失败"
        ),
    ),
    (
        "ask-when-missing",
        re.compile(
            r"(?i)\bmissing\b|\b(?:is|are) required\b|\brequired (?:\w+ )?(?:field|argument|parameter)\b"
            r"|\b(?:must|please) (?:be )?(?:provide|specif)|\bnot (?:provided|specified|given)\b"
            r"|\bambiguous\b|缺少|缺失|必填|未提供|请提供|不能为空"
        ),
    ),
    (
        "confirm-before-write",
        re.compile(
            r"(?i)\b(?:rejected|cancell?ed|declined|refused) by\b|\bconfirm(?:ation)?\b|\bapproval\b"
            r"|\bnot allowed\b|\b(?:permission|access) denied\b|\bforbidden\b|\bHTTP (?:403|409)\b"
            r"|\balready (?:exists|been|cancelled|paid)\b|拒绝|确认|无权|没有权限|已存在"
        ),
    ),
    (
        "validate-then-call",
        re.compile(
            r"(?i)\binvalid\b|\bnot found\b|\bno such\b|\bunknown\b|\bdoes(?: not|n't) exist\b|\bmalformed\b"
            r"|\bnot a valid\b|\bmust be\b|\bexpected\b|\bout of range\b|\bHTTP (?:400|404|422)\b"
            r"|无效|不存在|找不到|未找到|格式|类型"
        ),
    ),
)
_TYPES: dict[str, TemplateName] = {
    "timeout": "retry-then-fallback",
    "timeouterror": "retry-then-fallback",
    "connectionerror": "retry-then-fallback",
    "rejected": "confirm-before-write",
    "cancelled": "confirm-before-write",
    "permissionerror": "confirm-before-write",
}


class _Splice(NamedTuple):
    """Nodes before and after the failing one ("" in an edge), and ways between them ("*": what followed)."""

    before: tuple[NodeDoc, ...]
    after: tuple[NodeDoc, ...]
    edges: tuple[tuple[str, str, str, str], ...]


def choose_template(failure: FailurePoint) -> TemplateName | None:
    """The standard repair for this kind of failure; None when its kind is not known."""
    by_type = _TYPES.get(failure.error_type.casefold())
    if by_type is not None:
        return by_type
    said = f"{failure.error_type} {failure.message}"
    return next((name for name, words in _KINDS if words.search(said)), None)


def propose_template(old: PathDoc, failure: FailurePoint, versions: Sequence[PathDoc] = ()) -> Rewrite | None:
    """The standard repair spliced in at the failing node, or None: unknown kind, or the path (or one of its
    ``versions``) does that already.

    Raises KeyError when the failing node is not in the path.
    """
    place = place_of(old, failure)
    name = choose_template(failure)
    if name is None:
        return None
    failing = old.nodes[place]
    splice = _SPLICES[name](failing)
    known = {node.content for node in old.nodes}
    if all(node.content in known for node in (*splice.before, *splice.after)):
        return None
    rewrite = _spliced(old, place, splice, _reason(name, failing, failure))
    result = apply(old, rewrite)
    return None if any(same_steps(result, version) for version in (old, *versions)) else rewrite


def _retry(node: NodeDoc) -> _Splice:
    called = node.tool or node.name
    again = msgspec.structs.replace(
        node, name="retry", content=f"Wait a moment and call {called} once more with the same input",
        observation=None, occurred_at=None, details={},
    )  # fmt: skip
    return _Splice(
        before=(),
        after=(
            _choice("check", f"Did {called} time out, or answer that it is unavailable or busy?"),
            again,
            _choice("check again", f"Did {called} work now?"),
            _step("fallback", f"Use another source than {called} or a cached value, and say so"),
        ),
        edges=(
            ("", "check", "", ""),
            ("check", "retry", "timeout or unavailable", "retry"),
            ("check", "*", "ok", ""),
            ("retry", "check again", "", ""),
            ("check again", "fallback", "failed again", "fall back"),
            ("check again", "*", "ok", ""),
            ("fallback", "*", "", ""),
        ),
    )


def _ask(node: NodeDoc) -> _Splice:
    called = node.tool or node.name
    return _Splice(
        before=(
            _choice("check", f"Is a value that {called} needs missing, or could it mean several things?"),
            _step(
                "ask",
                f"Look for the value that {called} needs in what was said and observed; else ask for it",
            ),
        ),
        after=(),
        edges=(
            ("check", "ask", "missing or ambiguous", "ask"),
            ("check", "", "nothing is missing", ""),
            ("ask", "", "answered", ""),
        ),
    )


def _confirm(node: NodeDoc) -> _Splice:
    called = node.tool or node.name
    return _Splice(
        before=(
            _step("show", f"Say what {called} will change, and what of it cannot be undone"),
            _choice("confirm", f"Is a clear yes to {called} there?"),
            _step("stop", f"Do not call {called}; change nothing and say so"),
        ),
        after=(),
        edges=(
            ("show", "confirm", "", ""),
            ("confirm", "stop", "no or unclear", "stop"),
            ("confirm", "", "yes", ""),
        ),
    )


def _validate(node: NodeDoc) -> _Splice:
    called = node.tool or node.name
    return _Splice(
        before=(
            _choice("validate", f"Are all values for {called} of the right form, and known to exist?"),
            _step("look up", f"Look up the values for {called} that are not certain"),
        ),
        after=(),
        edges=(
            ("validate", "look up", "something is uncertain", "look up"),
            ("validate", "", "ok", ""),
            ("look up", "", "", ""),
        ),
    )


_SPLICES = {
    "retry-then-fallback": _retry,
    "ask-when-missing": _ask,
    "confirm-before-write": _confirm,
    "validate-then-call": _validate,
}


def _spliced(old: PathDoc, place: int, splice: _Splice, reason: str) -> Rewrite:
    failing = old.nodes[place].name
    names = _free_names(old, splice)
    edges = list(old.edges or chain([node.name for node in old.nodes]))
    following = [edge.target for edge in edges if edge.source == failing and edge.target != failing]
    if splice.before:
        earlier = {node.name for node in old.nodes[:place]}
        entry = names[splice.before[0].name]
        edges = [
            msgspec.structs.replace(edge, target=entry)
            if edge.target == failing and edge.source in earlier
            else edge
            for edge in edges
        ]
    if splice.after:
        edges = [edge for edge in edges if edge.source != failing]
    for source, target, condition, label in splice.edges:
        ends = following if target == "*" else [names[target] if target else failing]
        edges += [
            EdgeDoc(source=names[source] if source else failing, target=end, condition=condition, label=label)
            for end in ends
        ]
    before, after = (_renamed(nodes, names) for nodes in (splice.before, splice.after))
    kept = [node.name for node in old.nodes]
    nodes: tuple[str | NodeDoc, ...] = (*kept[:place], *before, failing, *after, *kept[place + 1 :])
    return Rewrite(new_nodes=nodes, new_edges=tuple(edges), new_tags=old.tags, reason=reason)


def _free_names(old: PathDoc, splice: _Splice) -> dict[str, str]:
    taken = {node.name for node in old.nodes}
    names: dict[str, str] = {}
    for node in (*splice.before, *splice.after):
        name, number = node.name, 2
        while name in taken:
            name, number = f"{node.name} {number}"[:MAX_NAME], number + 1
        names[node.name] = name
        taken.add(name)
    return names


def _renamed(nodes: Sequence[NodeDoc], names: dict[str, str]) -> list[NodeDoc]:
    return [msgspec.structs.replace(node, name=names[node.name]) for node in nodes]


def _reason(name: TemplateName, node: NodeDoc, failure: FailurePoint) -> str:
    said = " ".join(failure.message.split())[:MAX_SAID]
    return f"{node.tool or node.name} failed: “{said}”. The standard repair of this kind is {name}."


def _step(name: str, content: str) -> NodeDoc:
    return NodeDoc(name=name, content=content)


def _choice(name: str, content: str) -> NodeDoc:
    return NodeDoc(name=name, kind="decision", content=content)
