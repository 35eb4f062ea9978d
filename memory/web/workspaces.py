"""The settings of a workspace."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memory.actions.workspaces import rename_workspace, set_redaction
from memory.domain.redaction import InvalidPatternError
from memory.models import Workspace
from memory.web.access import PageRequest, workspace_page
from memory.web.forms import WorkspaceForm
from memory.web.locating_settings import locating_form


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("manage_workspace")
def settings(request: PageRequest) -> HttpResponse:
    """Name, and what is redacted beside the built-in kinds."""
    form = WorkspaceForm(request.POST or None, initial=_stored(request.workspace))
    if request.method == "POST" and form.is_valid() and _save(request, form):
        messages.success(request, _("Saved. It holds for what is recorded from now on."))
        return redirect("settings", request.workspace.slug)
    context = {"title": _("Settings"), "form": form, "locating_form": locating_form(request.workspace)}
    return render(request, "settings.html", context)


def _stored(workspace: Workspace) -> dict[str, str]:
    """The settings as the form's texts."""
    redaction = workspace.settings.get("redaction", {})
    return {
        "name": workspace.name,
        "fields_text": "\n".join(redaction.get("fields", [])),
        "patterns_text": "\n".join(
            f"{name} = {text}" for name, text in redaction.get("patterns", {}).items()
        ),
        "allow_text": "\n".join(redaction.get("allow", [])),
    }


def _save(request: PageRequest, form: WorkspaceForm) -> bool:
    """Write what changed; False with the reason on the form."""
    workspace, changed = request.workspace, set(form.changed_data)
    try:
        if changed - {"name"}:
            set_redaction(
                workspace=workspace, by=request.actor, fields=form.lines("fields_text"),
                patterns=form.patterns(), allow=form.lines("allow_text"),
            )  # fmt: skip
        if "name" in changed:
            rename_workspace(workspace=workspace, name=form.cleaned_data["name"], by=request.actor)
    except InvalidPatternError as problem:
        form.add_error("patterns_text", str(problem))
        return False
    return True
