"""What every page owes: agents' text stays text, and more rows cost no more queries."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

HOSTILE = '<script>alert("x")</script> {{ 7777*7777 }} {% now "Y" %} \'onload=x'
ALIVE = ("<script>alert", "<img src=x", "60481729")
"""What a page would hold if a browser or a template had taken such a text for code."""


def page_faults(answer: Any) -> list[str]:
    """What is wrong with a page full of hostile text: its status, no heading, text that came alive."""
    faults = [] if answer.status_code == 200 else [f"status {answer.status_code}"]
    faults += [] if "<h1>" in answer.text else ["no <h1>"]
    return faults + [sign for sign in ALIVE if sign in answer.text]


def extra_queries(client: Client, few: str, more: Callable[[], str], *, settles: bool = False) -> list[str]:
    """All queries of the page at ``more()``, which makes rows, if they are more than those of ``few``.

    ``settles``: what lives in the process reads a change once, so the page is opened before it counts.
    """
    client.get(few)
    with CaptureQueriesContext(connection) as before:
        client.get(few)
    many = more()
    if settles:
        client.get(many)
    with CaptureQueriesContext(connection) as after:
        client.get(many)
    return [query["sql"] for query in after.captured_queries] if len(after) > len(before) else []
