"""Hypothesis strategies: JSON values, contexts and accepted conditions."""

from typing import Any

from hypothesis import strategies as st

FIELDS = ("a", "b", "c", "n")
TEXTS = ("", " ", "a", "ab", "A", "order-17", "été", "北京", "😀x", " pad ", "\x1c", "\u00a0")
INTEGERS = (0, 1, -1, 5, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**70, -(2**64))
DOUBLES = (0.0, 1.0, -1.5, 5.0, float(2**53), 1e300, float("inf"), float("nan"))

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(INTEGERS),
    st.integers(-10, 10),
    st.sampled_from(DOUBLES),
    st.sampled_from(TEXTS),
    st.text(max_size=8),
    st.just("\ud800"),
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.one_of(st.sampled_from(FIELDS), st.text(max_size=4))
    return st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4))


json_values = st.recursive(scalars, _nested, max_leaves=12)
objects = st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=4)


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, Any]:
    """A context document for one of two tools."""
    document: dict[str, Any] = {
        "point": draw(st.sampled_from(["before", "after", "planning"])),
        "tool": draw(st.sampled_from(["alpha", "beta", ""])),
        "input": draw(objects),
        "env": draw(objects),
        "task": {"id": "t", "tags": draw(st.lists(st.sampled_from(["x", "y", "é"]), max_size=3))},
        "history": draw(
            st.lists(st.fixed_dictionaries({"tool": st.just("alpha"), "input": objects}), max_size=3)
        ),
    }
    if document["point"] == "after":
        document["output"] = draw(json_values)
        document["error"] = draw(st.one_of(st.none(), st.text(max_size=4), objects))
        document["duration_ms"] = draw(scalars)
    return document


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


paths = st.one_of(
    st.sampled_from(FIELDS).map(lambda field: f"input.{field}"),
    st.tuples(st.sampled_from(FIELDS), st.sampled_from(FIELDS)).map(
        lambda pair: f"input.{pair[0]}.{pair[1]}"
    ),
    st.sampled_from(FIELDS).map(lambda field: f'env["{field}"]'),
    st.sampled_from(
        ["task.tags", "tool.name", "history", "input", "task.goal", "input.a[0]", "input.b[0].c"]
    ),
)
literals = st.one_of(
    st.sampled_from(
        ["null", "true", "false", "0", "1", "-1", "5", "9007199254740993", "9223372036854775807"]
    ),
    st.sampled_from(["0.0", "1.0", "5.0", "-1.5", "1e300", "9007199254740992.0"]),
    st.sampled_from([text for text in TEXTS if "\x1c" not in text]).map(_quoted),
)
PATTERNS = (
    "a",
    "^a",
    "b$",
    "^order-[0-9]+$",
    r"\\d+",
    "a.b",
    "[^a-c]",
    "(ab|cd)",
    "(a|b)*",
    "x{2,3}",
    "^é",
    "(",
    r"\\bab",
)


@st.composite
def atoms(draw: st.DrawFn) -> str:
    """One part of a condition."""
    path, other, literal = draw(paths), draw(paths), draw(literals)
    text = draw(st.sampled_from(TEXTS[:9]).map(_quoted))
    comparison = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
    pattern = draw(st.sampled_from(PATTERNS))
    return draw(
        st.sampled_from(
            [
                f"{path} {comparison} {literal}",
                f"{literal} {comparison} {path}",
                f"{path} {comparison} {other}",
                f"{path} != null && {path} {comparison} {literal}",
                f"{path} in [{literal}, {text}]",
                f"{text} in {path}",
                f"{path} in {other}",
                f"has(input.{draw(st.sampled_from(FIELDS))})",
                "has(input.a.b)",
                "has(input.a[0].b)",
                f"{path}.startsWith({text})",
                f"has(input.a) && input.a.startsWith({text})",
                f"{path}.endsWith({text})",
                f"{path}.contains({text})",
                f'{path}.matches("{pattern}")',
                f"{path}.trim() == {text}",
                f"{path}.lowerAscii() == {text}",
                f"size({path}) {comparison} 1",
                f"{path}.size() > 0",
                f"({path} ? {other} == {literal} : {path} == {text})",
                f"{path}.exists(x, x == {text})",
                f"{path}.all(x, x {comparison} {literal})",
                f"{path}.exists(x, x.a == {literal})",
                f"{path}.exists(x, {other}.all(y, x == y))",
                f"{path} + {other} == {literal}",
                f"{path} * 2 > {literal}",
                f"{path} - 1 == {other}",
                f"{path}",
                f"{path}.filter(x, x != null).size() == 1",
                f"{path}.map(x, x)[0] == {literal}",
                f"int({path}) == 1",
                f"{path} % 2 == 0",
                f"type({path}) == string",
                "input.?a.orValue(1) == 1",
                f"math.greatest(1, {path}) == 1",
                f"{path}.split('-').size() > 1",
                "now > timestamp('2020-01-01T00:00:00Z')",
            ]
        )
    )


def _combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        inner.map(lambda text: f"!({text})"),
    )


conditions = st.recursive(atoms(), _combined, max_leaves=4)
