"""API keys: made, shown once, revoked."""

from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from memory.actions.accounts import create_key, revoke_key
from memory.models import ApiKey
from memory.queries.members import list_keys
from memory.web.access import PageRequest, workspace_page
from memory.web.forms import KeyForm


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("manage_keys")
def keys(request: PageRequest) -> HttpResponse:
    """The keys, and a form for one more. The answer to the form is the only place that shows the secret."""
    form = KeyForm(request.POST or None)
    secret = ""
    if request.method == "POST" and form.is_valid():
        secret = _create(request, form)
    context = {"title": _("API keys"), "form": form if not secret else KeyForm(), "secret": secret}
    context |= {"keys": list_keys(request.workspace), "now": timezone.now()}
    return render(request, "keys/list.html", context)


def _create(request: PageRequest, form: KeyForm) -> str:
    """The new secret, or "" with the reason on the form."""
    given = form.cleaned_data
    try:
        return create_key(
            workspace=request.workspace, name=given["name"], scopes=given["scopes"],
            expires_at=given["expires_on"], by=request.actor,
        )[1]  # fmt: skip
    except IntegrityError:
        form.add_error("name", _("A key with this name is in use. Choose another name or revoke that key."))
        return ""


@require_POST
@workspace_page("manage_keys")
def revoke(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Stop a key for good."""
    key = revoke_key(key=get_object_or_404(ApiKey, workspace=request.workspace, uuid=uuid), by=request.actor)
    messages.success(
        request,
        _("%(name)s is revoked. Agents that use it are refused within a second.") % {"name": key.name},
    )
    return redirect("keys", request.workspace.slug)
