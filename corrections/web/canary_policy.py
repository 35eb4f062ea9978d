"""How a workspace runs its canaries: one form."""

import msgspec
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from corrections.actions.canaries import set_canary_policy
from corrections.domain.canaries import safe_canary_policy
from corrections.domain.changes import InvalidPolicyError
from corrections.web.forms.canary_policy import CanaryPolicyForm, shown_policy
from memory.web.access import PageRequest, workspace_page


@require_http_methods(["GET", "POST"])
@workspace_page("manage_workspace")
def canary_policy(request: PageRequest) -> HttpResponse:
    """Which rules begin as a canary, and how canaries are run."""
    stored = msgspec.to_builtins(safe_canary_policy(request.workspace.settings))
    form = CanaryPolicyForm(request.POST or None, initial=shown_policy(stored))
    if request.method == "POST" and form.is_valid():
        try:
            set_canary_policy(workspace_id=request.workspace.pk, changes=form.changes(), by=request.actor)
        except InvalidPolicyError as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, _("Saved. It holds for canaries that begin from now on."))
            return redirect("canary-policy", request.workspace.slug)
    return render(request, "canaries/policy.html", {"title": _("How canaries are run"), "form": form})
