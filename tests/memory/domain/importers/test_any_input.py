"""No input makes a reader raise, and every document it yields is a valid one."""

import json
import random

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers import FORMATS, Imported, read, summarise
from tests.memory.domain.importers import (
    test_chat,
    test_claude_code,
    test_langfuse,
    test_otlp,
    test_runs,
)

GOOD = {
    "runs": [test_runs.GOOD],
    "chat": [test_chat.TAU, {"messages": test_chat.MESSAGES}, test_chat.MESSAGES],
    "claude_code": test_claude_code.SESSION_RECORDS,
    "langfuse": test_langfuse.ROWS,
    "otlp": [test_otlp.export(test_otlp.ROOT, test_otlp.GOOD, test_otlp.FAILED)],
}
JUNK = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    10**400,
    "",
    "x",
    "\x00",
    "x" * 25_000,
    [],
    [[]],
    [None],
    {},
    {"a": {}},
    {"role": "tool"},
]


def places_of(value, path=()):
    yield path
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield from places_of(child, (*path, key))


def replaced(value, path, junk):
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], junk)
    return copy


def check(items):
    items = list(items)
    for item in items:
        if isinstance(item, Imported):
            document = msgspec.convert(item.document, ExperienceDoc)
            json.dumps(item.document, allow_nan=False).encode()
            assert [call.seq for call in document.calls][:1] in ([], [0])
    summarise(items)


@pytest.mark.parametrize("name", FORMATS)
def test_read__any_field_replaced_by_junk__never_raises(name):
    records = GOOD[name]
    for path in places_of(records):
        for junk in JUNK:
            changed = replaced(records, path, junk)
            lines = (
                [json.dumps(row) for row in changed] if isinstance(changed, list) else [json.dumps(changed)]
            )
            check(read(name, lines, source="f"))


@pytest.mark.parametrize("name", FORMATS)
def test_read__bytes_flipped_or_cut__never_raises(name):
    chance = random.Random(name)
    layouts = [
        "\n".join(json.dumps(row) for row in GOOD[name]).encode(),
        json.dumps(GOOD[name], indent=1).encode(),
        test_langfuse.as_csv(test_langfuse.ROWS).encode(),
    ]
    for raw in layouts:
        for _ in range(300):
            damaged = bytearray(raw)
            for _ in range(chance.randint(1, 4)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            check(read(name, bytes(damaged[: chance.randint(1, len(damaged))]), source="f"))


@pytest.mark.parametrize("name", FORMATS)
def test_read__another_formats_file__never_raises(name):
    for rows in GOOD.values():
        check(read(name, [json.dumps(row) for row in rows], source="f"))
