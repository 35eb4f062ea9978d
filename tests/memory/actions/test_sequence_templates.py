"""A sequence made a template path: once, with its tools as nodes, by who may."""

import pytest

from memory.actions.paths import InvalidPathError
from memory.actions.sequence_templates import TemplateExistsError, make_sequence_template, template_made
from memory.domain.access import NotPermitted
from memory.models import AuditEvent, Path
from tests.conftest import Cast
from tests.memory.winning_scenes import make_kind, make_sequence

pytestmark = pytest.mark.django_db


def test_make_template__sequence__path_with_its_tools(cast: Cast) -> None:
    row = make_sequence(cast.workspace, "find", "check", "find", "book")

    path = make_sequence_template(sequence=row, goal="Book a seat", tags=["trip"], by=cast.actor("reviewer"))

    steps = path.steps.order_by("position")
    assert [step.node.tool for step in steps] == ["find", "check", "find", "book"]
    assert (path.result, path.reward, path.goal, path.tags) == ("template", 0.0, "Book a seat", ["trip"])
    assert path.edges.count() == 3
    assert template_made(row) == path
    assert AuditEvent.objects.filter(verb="make_template", subject_uuid=path.uuid).count() == 1


def test_make_template__twice__refused_with_the_first(cast: Cast) -> None:
    row = make_sequence(cast.workspace, "find", "book")
    first = make_sequence_template(sequence=row, goal="Book", by=cast.actor("reviewer"))

    with pytest.raises(TemplateExistsError, match="a template path already") as refusal:
        make_sequence_template(sequence=row, goal="Book again", by=cast.actor("reviewer"))

    assert refusal.value.path == first
    assert Path.objects.filter(result="template", goal__startswith="Book").count() == 1


def test_make_template__same_tools_of_another_kind__template_of_its_own(cast: Cast) -> None:
    rows = [
        make_sequence(cast.workspace, "find", "book", kind=make_kind(cast.workspace, name))
        for name in ("", "tag:trip")
    ]

    paths = {make_sequence_template(sequence=row, goal="Book", by=cast.actor("reviewer")) for row in rows}

    assert len(paths) == 2


@pytest.mark.parametrize(
    ("goal", "tags"),
    [pytest.param(" ", [], id="no goal"), pytest.param("Book", ["x" * 101], id="tag too long")],
)
def test_make_template__what_no_path_can_have__refused(cast: Cast, goal: str, tags: list[str]) -> None:
    before = Path.objects.count()

    with pytest.raises(InvalidPathError):
        make_sequence_template(
            sequence=make_sequence(cast.workspace), goal=goal, tags=tags, by=cast.actor("reviewer")
        )

    assert Path.objects.count() == before


def test_make_template__who_may_only_look__refused(cast: Cast) -> None:
    with pytest.raises(NotPermitted):
        make_sequence_template(sequence=make_sequence(cast.workspace), goal="g", by=cast.actor("viewer"))
