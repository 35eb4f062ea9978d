"""The small reference of the condition language beside the editor."""

from typing import Any

from django.utils.translation import gettext_lazy as _

REFERENCE: list[tuple[Any, list[tuple[str, Any]]]] = [
    (
        _("What can be read"),
        [
            ("input.city", _("an argument of the call; null when it is missing")),
            ('input["odd name"]', _("a field whose name is no plain word")),
            ("tool.name", _("the tool; also tool.version")),
            ("task.goal", _("the task; also id, root, tags, agent")),
            ("env.domain", _("what the agent said about its environment")),
            ("history[0].tool", _("earlier calls of the task, oldest first: tool, input, status, error")),
            ("now", _("the moment of the question")),
            ("output, error, duration_ms", _("only after the call")),
        ],
    ),
    (
        _("Tests"),
        [
            ("input.city == null", _("missing or null")),
            ("has(input.city)", _("present")),
            ("input.city == null || input.city.trim() == ''", _("missing or blank")),
            ("input.unit in ['C', 'F']", _("one of several")),
            ("input.sql.contains('users')", _("text within text")),
            ("input.id.matches('^[A-Z]{3}[0-9]+$')", _("a regular expression (RE2)")),
            ("size(input.items) > 10", _("length of text, list or object")),
            ("input.items.exists(x, x.price < 0)", _("some item; all() for every item")),
            ("history.exists(h, h.tool == 'login')", _("a tool was called before")),
            ("'vip' in task.tags", _("the task has a tag")),
            ("type(input.n) == string", _("the type: string, int, double, bool, list, map")),
        ],
    ),
    (
        _("Joined"),
        [
            ("a && b", _("both")),
            ("a || b", _("one of them")),
            ("!a", _("not")),
            ("a ? b : c", _("if a then b, else c")),
        ],
    ),
]
