"""Writing validators."""

from memory.actions.validators import ValidatorDraft, edit_validator
from tests.builders import make_validator
from tests.conftest import Cast


def test_edit_validator__could_not_be_evaluated_before__is_counted_anew(cast: Cast) -> None:
    row = make_validator(cast.workspace, error_count=7, last_error="no such field")
    draft = ValidatorDraft(name=row.name, tool=row.tool, kind="cel", source="true")

    edited = edit_validator(validator=row, draft=draft, revision=1, by=cast.actor("maintainer"))

    edited.refresh_from_db()
    assert (edited.revision, edited.error_count, edited.last_error) == (2, 0, "")
