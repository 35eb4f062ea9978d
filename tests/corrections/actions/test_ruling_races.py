"""Two people at once: rulings against each other, and against a change of the rules."""

import pytest

from corrections.actions.arbitration import Said, rule_conflict
from corrections.actions.changes import approve_change
from corrections.actions.regressions import BrokenRuling
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest, Ruling
from tests.conftest import Cast
from tests.corrections.builders import make_rule
from tests.corrections.conflicts import found, make_pair
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_rulings__the_opposite_approved_at_once__one_is_in_force(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict, by = found(cast.workspace), cast.actor("reviewer")
    changes = [
        rule_conflict(conflict=conflict, said=Said(verdict, "because"), by=by)
        for verdict in ("a_wins", "b_wins")
    ]

    at_once(*(lambda change=change: _approved(change, cast) for change in changes))

    assert sorted(Ruling.objects.values_list("status", flat=True)) == ["active", "ended"]


def test_ruling__while_a_rule_that_breaks_it_is_approved__never_both(cast: Cast) -> None:
    make_pair(cast.workspace)
    by = cast.actor("reviewer")
    ruling = rule_conflict(conflict=found(cast.workspace), said=Said("b_wins", "because"), by=by)
    rule = make_rule(
        cast.workspace, active=False, name="Xi'an", priority=9, condition="input.country == 'CN'"
    )
    serving = ChangeRequest.objects.get(rule=rule)

    results = at_once(lambda: _approved(ruling, cast), lambda: _approved(serving, cast))

    refused = [result for result in results if isinstance(result, Refused)]
    assert len(refused) == 1
    assert isinstance(refused[0], BrokenRuling) or "stands above it" in str(refused[0])


def _approved(change: ChangeRequest, cast: Cast) -> ChangeRequest:
    return approve_change(change=change, revision=1, by=cast.actor("maintainer"))
