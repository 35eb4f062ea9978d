"""Real web processes: what one changes, the others serve; what is down, does not stop them."""

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from corrections.actions.rules import activate_rule, disable_rule
from corrections.live.announcing import Listener, announce_change
from corrections.live.rulesets import RULESETS
from corrections.models import IssuedToken
from memory.actions.accounts import revoke_key
from memory.models import ApiKey
from memory.permissions import SYSTEM
from tests.conftest import Cast, make_key
from tests.corrections.builders import make_rule
from tests.servers import free_port, start_redis, start_web, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SOON_S = 10.0
"""How long a busy machine may take; the figure itself is measured in ``benchmarks/http.py``."""


def ask(url: str, secret: str) -> tuple[int, dict[str, Any]]:
    request = urllib.request.Request(
        f"{url}/api/v1/corrections/query",
        data=json.dumps({"tool": "weather_api", "input": {}}).encode(),
        headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def applied(url: str, secret: str) -> int:
    status, body = ask(url, secret)
    assert status == 200, body
    return len(body["applied"])


def test_two_processes__rule_changed_elsewhere__both_follow(cast: Cast, tmp_path: Path) -> None:
    rule, secret = make_rule(cast.workspace), make_key(cast.workspace)
    with start_web(var=tmp_path) as one, start_web(var=tmp_path) as other:
        assert [applied(url, secret) for url in (one, other)] == [1, 1]
        rule = disable_rule(rule=rule, by=SYSTEM)
        for url in (one, other):
            wait_until(lambda url=url: applied(url, secret) == 0, timeout_s=SOON_S)
        activate_rule(rule=rule, by=SYSTEM)
        for url in (one, other):
            wait_until(lambda url=url: applied(url, secret) == 1, timeout_s=SOON_S)


def test_process__key_revoked_elsewhere__refuses_it_soon(cast: Cast, tmp_path: Path) -> None:
    secret = make_key(cast.workspace)
    with start_web(var=tmp_path) as url:
        assert ask(url, secret)[0] == 200
        revoke_key(key=ApiKey.objects.get(), by=SYSTEM)
        wait_until(lambda: ask(url, secret)[0] == 401, timeout_s=SOON_S)


def test_process__question_matched__token_is_stored_soon(cast: Cast, tmp_path: Path) -> None:
    make_rule(cast.workspace)
    secret = make_key(cast.workspace)
    with start_web(var=tmp_path) as url:
        _, body = ask(url, secret)
        wait_until(IssuedToken.objects.exists, timeout_s=SOON_S)
        assert IssuedToken.objects.get().token == body["receipt"]


def test_process__redis_and_broker_are_down__answers_and_follows(cast: Cast, tmp_path: Path) -> None:
    rule, secret = make_rule(cast.workspace), make_key(cast.workspace)
    with start_web(var=tmp_path, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0") as url:
        assert applied(url, secret) == 1
        disable_rule(rule=rule, by=SYSTEM)
        wait_until(lambda: applied(url, secret) == 0, timeout_s=SOON_S)


@pytest.mark.redis
def test_redis__change_announced__wakes_the_poller_of_a_listener(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken_by: set[str] = set()
    monkeypatch.setattr(RULESETS.poller, "wake", lambda: woken_by.add(threading.current_thread().name))
    listener = Listener()
    with start_redis() as url:
        settings.REDIS_URL = url
        listener.start()

        def heard() -> bool:
            announce_change(7)
            return "ruleset-listener" in woken_by

        wait_until(heard, timeout_s=SOON_S)
        listener.stop()


def test_announce__redis_away__neither_raises_nor_waits(settings: Any) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    announce_change(7)
