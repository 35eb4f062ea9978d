"""Paths as drawings, in the reader's language."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from memory.domain.graphs.pictures import Mark, picture_of_path
from memory.domain.paths.document import PathDoc
from memory.web.drawing import Drawing, draw
from memory.web.path_words import kind_words


def draw_path(
    doc: PathDoc,
    *,
    name: str = "path",
    title: str = "",
    node_marks: Mapping[str, Mark] | None = None,
    edge_marks: Mapping[int, Mark] | None = None,
) -> Drawing:
    """The path from top to bottom; rows of the page show its boxes as ``NAME:n0``, ``NAME:n1``, ..."""
    picture = picture_of_path(doc, node_marks=node_marks, edge_marks=edge_marks, words=kind_words())
    return draw(picture, name=name, title=title or _("The path as a graph"))
