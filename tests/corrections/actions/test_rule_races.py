"""Two people at the same moment."""

from collections.abc import Callable

import pytest

from corrections.actions.rules import StaleEdit, activate_rule, disable_rule, edit_rule
from corrections.domain.lifecycle import Refused
from corrections.models import Rule, RulesetStamp
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_edit__two_from_the_same_version__one_is_stale(cast: Cast) -> None:
    rule = make_rule(cast.workspace)

    def edit(priority: int) -> Callable[[], Rule]:
        document = weather_document(priority=priority)
        return lambda: edit_rule(rule=rule, document=document, base_version=1, by=SYSTEM)

    results = at_once(*(edit(priority) for priority in (1, 2, 3, 4)))
    assert sum(isinstance(result, Rule) for result in results) == 1
    assert sum(isinstance(result, StaleEdit) for result in results) == 3
    assert list(rule.versions.values_list("number", flat=True)) == [2, 1]


def test_disable__twice_at_once__happens_once(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    results = at_once(*[lambda: disable_rule(rule=rule, by=SYSTEM)] * 3)
    assert sum(isinstance(result, Refused) for result in results) == 2
    assert RulesetStamp.objects.get(workspace=cast.workspace).version == 2


def test_activate__many_first_rules_at_once__every_one_is_stamped(cast: Cast) -> None:
    rules = [make_rule(cast.workspace, active=False, name=str(number)) for number in range(4)]
    results = at_once(*(lambda rule=rule: activate_rule(rule=rule, by=SYSTEM) for rule in rules))
    assert all(isinstance(result, Rule) for result in results), results
    assert RulesetStamp.objects.get(workspace=cast.workspace).version == 4
