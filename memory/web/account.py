"""Signing in and out, the way to a workspace, one's own password."""

from typing import cast

from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from memory.models import User
from memory.queries.workspaces import list_workspaces

LAST_WORKSPACE = "last_workspace"


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """To the workspace one was in last, to the only one, or to a choice."""
    slugs = [workspace.slug for workspace in list_workspaces(user=cast(User, request.user))]
    last = request.session.get(LAST_WORKSPACE)
    if last in slugs:
        return redirect("overview", last)
    if len(slugs) == 1:
        return redirect("overview", slugs[0])
    title = _("Choose a workspace") if slugs else _("Welcome to HGMem")
    return render(request, "account/home.html", {"title": title})


def remember_workspace(request: HttpRequest, slug: str) -> None:
    """So that the next visit starts where this one ended. Writes only when it changes."""
    if request.session.get(LAST_WORKSPACE) != slug:
        request.session[LAST_WORKSPACE] = slug


login = views.LoginView.as_view(
    template_name="account/login.html",
    authentication_form=AuthenticationForm,
    redirect_authenticated_user=True,
    extra_context={"title": gettext_lazy("Sign in")},
)
logout = views.LogoutView.as_view()


class ChangePassword(views.PasswordChangeView):
    """One's own password; says so and returns to the workspace."""

    template_name = "account/password.html"
    form_class = PasswordChangeForm
    success_url = reverse_lazy("home")
    extra_context = {"title": gettext_lazy("Change password")}  # noqa: RUF012

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Keep the answer of the shell, add a sentence."""
        messages.success(self.request, _("Your password is changed."))
        return super().form_valid(form)


password = login_required(ChangePassword.as_view())
