"""Pages of the corrections app, under ``/w/<slug>/``."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
