"""Looking at a rule again, and when people are reminded to."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from corrections.actions.staleness import review_rule, set_stale_policy
from corrections.domain.staleness import stale_policy
from corrections.web.sessions import find_rule
from memory.web.access import PageRequest, workspace_page


class RemindersForm(forms.Form):
    """After how many days."""

    unmatched_days = forms.IntegerField(
        label=gettext_lazy("Days without a match"), min_value=0, max_value=3650,
        help_text=gettext_lazy("After these a rule asks to be looked at; 0: never."),
    )  # fmt: skip
    expiry_notice_days = forms.IntegerField(
        label=gettext_lazy("Days before a rule ends"), min_value=0, max_value=365,
        help_text=gettext_lazy("So long before it ends, it asks to be looked at; 0: never."),
    )  # fmt: skip


@require_POST
@workspace_page("review_rule")
def rule_review(request: PageRequest, uuid: UUID) -> HttpResponse:
    """It is still right."""
    rule = find_rule(request, uuid)
    review_rule(rule=rule, by=request.actor, note=request.POST.get("note", "").replace("\x00", "")[:2_000])
    messages.success(request, _("Its reminders are gone until there is a new reason."))
    return redirect("rule", request.workspace.slug, uuid)


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("manage_workspace")
def rule_reminders(request: PageRequest) -> HttpResponse:
    """The settings of this workspace."""
    policy = stale_policy(request.workspace.settings)
    initial = {name: getattr(policy, name) for name in policy.__struct_fields__}
    form = RemindersForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        set_stale_policy(workspace_id=request.workspace.pk, changes=form.cleaned_data, by=request.actor)
        messages.success(request, _("Saved. It holds from the next look on."))
        return redirect("rule-reminders", request.workspace.slug)
    context = {"title": _("Reminders about rules"), "form": form}
    return render(request, "rules/reminders.html", context, status=422 if form.errors else 200)
