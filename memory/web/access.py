"""Who may open a page: one decorator for every page of a workspace."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

from memory.domain.access import Actor, NotPermitted, check_may
from memory.models import User, Workspace
from memory.permissions import member_actor

View = Callable[..., HttpResponse]


class PageRequest(HttpRequest):
    """The request of a page of a workspace, as :func:`workspace_page` hands it on. For annotations."""

    user: User
    workspace: Workspace
    actor: Actor


def workspace_page(action: str) -> Callable[[View], View]:
    """Open the page to members who may do ``action``.

    Sets ``request.workspace`` and ``request.actor`` and drops ``slug`` from the arguments. An outsider gets
    the same 404 as for a workspace that does not exist; a member who may not gets 403 with the sentence.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        @login_required
        def page(request: PageRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
            workspace = Workspace.objects.visible_to(request.user).filter(slug=slug).first()
            actor = member_actor(request.user, workspace) if workspace else None
            if workspace is None or actor is None:
                raise Http404("There is no such workspace.")
            try:
                check_may(actor, action)
                request.workspace, request.actor = workspace, actor
                return view(request, *args, **kwargs)
            except NotPermitted as refusal:
                raise PermissionDenied(str(refusal)) from refusal

        page.access_rule = action  # the guard test reads it
        return page

    return decorate
