"""Rules as files: export, and an import that shows its plan first."""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from corrections.actions.rule_files import StalePlan, apply_rule_files, plan_rule_files
from corrections.domain.lifecycle import Refused
from corrections.domain.rule_files import FORMATS, Fault, Plan, RuleFileError, SourceFile, write_rule_file
from corrections.queries.rule_files import list_kept, list_of_batch
from hgmem.rules import RuleError
from memory.permissions import may
from memory.web.access import PageRequest, workspace_page

SHOWN = 200
PASTED = "pasted"


@dataclass
class Import:
    """What was sent, and what came of it."""

    files: list[SourceFile] = field(default_factory=list)
    prune: bool = False
    plan: Plan | None = None
    faults: list[Fault] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)
    refusal: str = ""

    @property
    def status(self) -> int:
        """Of the answer."""
        if self.moves or self.refusal:
            return 409
        return 422 if self.faults else 200


@require_GET
@workspace_page("look")
def rule_files_export(request: PageRequest) -> HttpResponse:
    """All rules as one file. ``?format=`` yaml or json."""
    kind = request.GET.get("format", "")
    kind = kind if kind in FORMATS else "yaml"
    text = write_rule_file(list_kept(request.workspace.pk, exported=True), kind)
    answer = HttpResponse(text, content_type=f"application/{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{request.workspace.slug}-rules.{kind}"'
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("look")
def rule_files(request: PageRequest) -> HttpResponse:
    """Paste or upload, see the plan, ask for it. ``?batch=`` shows what was asked for."""
    state = Import()
    if request.method == "POST":
        state = _read(request)
        if request.POST.get("do") == "apply" and (done := _apply(request, state)):
            return done
        _plan(request, state)
    return _show(request, state)


def _show(request: PageRequest, state: Import) -> HttpResponse:
    work = [change for change in state.plan.changes if change.verb != "keep"] if state.plan else []
    pasted = [file.text for file in state.files if file.name == PASTED]
    context: dict[str, Any] = {
        "title": _("Rules as files"), "plan": state.plan, "shown": work[:SHOWN], "more": len(work[SHOWN:]),
        "base": json.dumps(state.plan.base) if state.plan else "", "files": state.files, "prune": state.prune,
        "faults": state.faults, "moves": state.moves, "refusal": state.refusal,
        "pasted": pasted[0] if pasted else "", "batch": _batch(request),
        "may_draft": may(request.actor, "draft_rule"),
    }  # fmt: skip
    return render(request, "rules/files.html", context, status=state.status)


def _read(request: PageRequest) -> Import:
    """The files as they were uploaded, pasted, or carried along by the plan's form."""
    names, texts = request.POST.getlist("name"), request.POST.getlist("text")
    files = [SourceFile(name[:300], text) for name, text in zip(names, texts, strict=False)]
    faults: list[Fault] = []
    for upload in request.FILES.getlist("files"):
        name = upload.name or "upload"
        try:
            files.append(SourceFile(name, upload.read().decode("utf-8-sig")))
        except UnicodeDecodeError:
            faults.append(Fault(name, None, "", "", _("This is not UTF-8 text.")))
    if pasted := request.POST.get("pasted", "").strip():
        files.append(SourceFile(PASTED, pasted))
    return Import(files, bool(request.POST.get("prune")), faults=faults)


def _plan(request: PageRequest, state: Import) -> None:
    if state.faults:
        return
    try:
        state.plan = plan_rule_files(
            workspace_id=request.workspace.pk, files=state.files, by=request.actor, prune=state.prune
        )
    except RuleFileError as error:
        state.faults = error.faults


def _apply(request: PageRequest, state: Import) -> HttpResponse | None:
    """Ask for the plan; None with the reason in the state when that is refused."""
    try:
        applied = apply_rule_files(
            workspace_id=request.workspace.pk, files=state.files, digest=request.POST.get("digest", ""),
            base=_base(request.POST.get("base", "")), by=request.actor, prune=state.prune,
            reason=request.POST.get("reason", "").replace("\x00", "")[:2_000],
        )  # fmt: skip
    except RuleFileError as error:
        state.faults = error.faults
    except StalePlan as error:
        state.moves = error.moves or [str(error)]
    except (Refused, RuleError) as error:
        state.refusal = str(error)
    else:
        said = _("%(done)s in force, %(waiting)s wait for an approval.")
        messages.success(request, said % {"done": applied.published, "waiting": applied.waiting})
        address = reverse("rule-files", args=[request.workspace.slug])
        return redirect(f"{address}?batch={applied.batch}" if applied.batch else address)
    return None


def _base(text: str) -> dict[str, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {str(uuid): str(state) for uuid, state in value.items()} if isinstance(value, dict) else {}


def _batch(request: PageRequest) -> list[Any]:
    try:
        return list_of_batch(request.workspace.pk, UUID(request.GET.get("batch", "")))
    except ValueError:
        return []
