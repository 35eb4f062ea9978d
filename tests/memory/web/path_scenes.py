"""Paths with everything that their pages show, full of hostile text."""

from dataclasses import dataclass
from itertools import pairwise

from django.db import transaction
from django.utils import timezone
from msgspec import structs

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from memory.models import Path, PathUse, RewardChange, RewriteProposal, Task, Workspace
from memory.queries.path_documents import read_path
from memory.writer.paths import NewPath, add_version
from tests.builders import NOW, make_call, make_failure, make_path, make_pattern, make_task

HOSTILE = '<img src=x onerror="alert(1)"> {{ 7777*7777 }} {% now "Y" %} </script><script>alert("x")</script>'


@dataclass(frozen=True)
class PathScene:
    """A path with a parent version, a sub-path, uses and failures."""

    path: Path
    old: Path
    part: Path
    task: Task


def hostile_nodes(text: str = HOSTILE) -> list[NodeDoc]:
    """One node of each kind, every text hostile."""
    return [
        NodeDoc(
            name=f"a {text}", tool=text, params={text: text}, observation={"a": text}, details={"seq": [0]}
        ),
        NodeDoc(name="error", kind="event", content=text, details={"error_type": text, "seq": [0]}),
        NodeDoc(name="decision", kind="decision", content=text),
        NodeDoc(name="thing", kind="entity", content=text, details={"attempts": [{"error": text}]}),
        NodeDoc(name="last", tool="book", content=text, details={"repeats": 3}),
    ]


def hostile_edges(nodes: list[NodeDoc], text: str = HOSTILE) -> tuple[EdgeDoc, ...]:
    """A chain, a branch past the detour and a way back."""
    names = [node.name for node in nodes]
    chain = [EdgeDoc(source=one, target=other) for one, other in pairwise(names)]
    branch = EdgeDoc(source=names[0], target=names[-1], condition=text, label=text[:100])
    return (*chain, branch, EdgeDoc(source=names[-1], target=names[0], condition="again"))


def build_path_scene(workspace: Workspace, rows: int = 1) -> PathScene:
    """``rows`` paths; the newest has as many versions, uses, failures and parts."""
    for _ in range(rows):
        task = make_task(workspace, agent=HOSTILE)
        nodes = hostile_nodes()
        old = make_path(
            workspace, HOSTILE, nodes, edges=hostile_edges(nodes), source=task, tags=(HOSTILE[:90],),
            agent=HOSTILE, env={"domain": HOSTILE}, result="failure", reward=0.4,
        )  # fmt: skip
    for _ in range(rows):
        call = make_call(task, HOSTILE, output=HOSTILE)
        make_failure(call, make_pattern(workspace, HOSTILE), message=HOSTILE)
        use = {
            "workspace": workspace,
            "task_name": f"{HOSTILE}{call.pk}",
            "used_at": NOW,
            "result": "failure",
        }
        PathUse.objects.create(path=old, task=task if call.seq == 0 else None, **use)
        RewardChange.objects.create(path=old, old=0.4, new=0.3, cause="use", reason=HOSTILE, changed_at=NOW)
    path = old
    for number in range(rows):
        doc = read_path(path)
        changed = [*doc.nodes[:2], NodeDoc(name=f"new{number}", tool="ask", content=HOSTILE), *doc.nodes[3:]]
        new = NewPath(doc=_with_nodes(doc, changed), origin="hand", created_by=HOSTILE[:190])
        with transaction.atomic():
            path = add_version(lineage=old.lineage, new=new, base=path, now=timezone.now())
        PathUse.objects.create(workspace=workspace, path=path, task_name=f"u{number}", used_at=NOW)
    part = make_path(workspace, HOSTILE, level="subtask", source=task)
    Path.objects.filter(pk=part.pk).update(container=path)
    RewriteProposal.objects.create(
        workspace=workspace, lineage=old.lineage, path=path, trigger="person", dedupe=f"d{path.pk}",
        requested_at=NOW,
    )  # fmt: skip
    old.refresh_from_db()
    return PathScene(path, old, part, task)


def _with_nodes(doc: PathDoc, nodes: list[NodeDoc]) -> PathDoc:
    return structs.replace(doc, nodes=tuple(nodes), edges=hostile_edges(nodes))
