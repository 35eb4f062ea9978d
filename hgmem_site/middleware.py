"""Middleware that serves pages only: the API speaks JSON, has no cookies and pays for none of it."""

from typing import cast

from csp.middleware import CSPMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils.deprecation import MiddlewareMixin

API = "/api/v1/"


class PagesOnly(MiddlewareMixin):
    """Put before another middleware's class, it lets requests to the API pass by."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The other middleware's turn, unless it is the API's."""
        if request.path_info.startswith(API):
            return cast(HttpResponseBase, self.get_response(request))
        return cast(HttpResponseBase, super().__call__(request))


class PagePolicy(PagesOnly, CSPMiddleware):
    """The Content-Security-Policy: a JSON answer runs nothing (and says ``nosniff``)."""


class PageLocale(PagesOnly, LocaleMiddleware):
    """The visitor's language: the API answers in English."""


class PageMessages(PagesOnly, MessageMiddleware):
    """Messages between one page and the next."""
