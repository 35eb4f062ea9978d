"""What an agent is told about a path to avoid."""

from memory.domain.locating.warnings import MAX_WORDS, went_wrong
from memory.domain.paths.document import NodeDoc, PathDoc


def test_went_wrong__masked_event__says_the_text_that_came_back_on_one_capped_line() -> None:
    masked = NodeDoc(name="e", kind="event", content="query failed: Unknown column <q> in <q>",
                     observation="Unknown column 'PetType'\nin 'pets'")  # fmt: skip
    long = NodeDoc(name="l", kind="event", content="query failed: <q>", observation="y" * 9_000)

    said = went_wrong(PathDoc(goal="Ask", nodes=(masked, long), result="failure"))

    assert said[0] == "query failed: Unknown column 'PetType' in 'pets'"
    assert len(said[1]) == MAX_WORDS
