"""Template paths: what to do when nothing real is remembered yet.

Their goals and tags are said in English and Chinese, so that both languages find them. They are general on
purpose and worth nothing (reward 0), so anything real comes before them.
"""

from memory.domain.paths.checking import with_edges
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc


def _step(name: str, content: str) -> NodeDoc:
    return NodeDoc(name=name, content=content)


def _choice(name: str, content: str) -> NodeDoc:
    return NodeDoc(name=name, kind="decision", content=content)


def _way(source: str, target: str, condition: str = "", label: str = "") -> EdgeDoc:
    return EdgeDoc(source=source, target=target, condition=condition, label=label)


def _template(goal: str, tags: tuple[str, ...], nodes: tuple[NodeDoc, ...], *edges: EdgeDoc) -> PathDoc:
    return with_edges(PathDoc(goal=goal, tags=tags, nodes=nodes, edges=edges, result="template", reward=0.0))


STARTERS: dict[str, PathDoc] = {
    "retry-then-fallback": _template(
        "Call a tool that may time out or be unavailable: retry once, then fall back. "
        "工具调用超时或服务不可用时：先重试一次，再降级兜底。",
        ("retry", "timeout", "fallback", "重试", "超时", "降级"),
        (
            _step("call", "Call the tool"),
            _choice("check", "Did it time out, or answer that it is unavailable or busy (429, 5xx)?"),
            _step("retry", "Wait a moment and call it once more with the same input"),
            _choice("check again", "Did it work now?"),
            _step("fallback", "Use another source or a cached value, and say that it is a fallback"),
            _step("answer", "Go on with the result"),
        ),
        _way("call", "check"),
        _way("check", "retry", "timeout or unavailable", "retry"),
        _way("check", "answer", "ok"),
        _way("retry", "check again"),
        _way("check again", "answer", "ok"),
        _way("check again", "fallback", "failed again", "fall back"),
        _way("fallback", "answer"),
    ),
    "validate-then-call": _template(
        "Check the input before calling a tool: required fields, types, identifiers that exist. "
        "调用工具之前先校验输入参数：必填字段、类型、标识符是否存在。",
        ("validate", "input", "schema", "校验", "参数"),
        (
            _step("read", "Read what the tool requires: fields, types, formats, allowed values"),
            _choice("validate", "Are all required values there, of the right type, and really known?"),
            _step("look up", "Look up the identifiers and names that are not certain"),
            _step("call", "Call the tool"),
            _choice("verify", "Does the answer say what was wanted?"),
        ),
        _way("read", "validate"),
        _way("validate", "call", "ok"),
        _way("validate", "look up", "something is missing or uncertain", "look up"),
        _way("look up", "validate"),
        _way("call", "verify"),
    ),
    "ask-when-missing": _template(
        "A value that a tool needs is missing or ambiguous: ask the user instead of guessing. "
        "工具需要的信息缺失或有歧义时：先向用户询问，不要猜测。",
        ("ask", "missing", "clarify", "询问", "缺失", "澄清"),
        (
            _choice("check", "Is a value that the tool needs missing, or could it mean several things?"),
            _step("search", "Look for it in the conversation and in what was observed"),
            _step("ask", "Ask the user for exactly this value, naming the choices"),
            _step("call", "Call the tool with it"),
        ),
        _way("check", "call", "nothing is missing"),
        _way("check", "search", "missing or ambiguous"),
        _way("search", "call", "found"),
        _way("search", "ask", "not found", "ask"),
        _way("ask", "call", "answered"),
    ),
    "confirm-before-write": _template(
        "Before changing, paying, booking, cancelling or deleting something: show what will happen and get a "
        "yes. 修改、支付、预订、取消或删除之前：先说明将要发生什么，并取得用户确认。",
        ("confirm", "write", "delete", "确认", "写入", "删除"),
        (
            _step("read", "Read the present state of what will be changed"),
            _step("show", "Say in one list what will change, what it costs, and what cannot be undone"),
            _choice("confirm", "Did the user clearly say yes?"),
            _step("write", "Make the change, once"),
            _step("verify", "Read the state again and check that only this changed"),
            _step("stop", "Change nothing and say so"),
        ),
        _way("read", "show"),
        _way("show", "confirm"),
        _way("confirm", "write", "yes"),
        _way("confirm", "stop", "no or unclear", "stop"),
        _way("write", "verify"),
    ),
}  # fmt: skip
"""By name. The lineage of each is ``template:NAME``."""
