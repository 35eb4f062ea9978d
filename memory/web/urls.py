"""Pages of the memory app, under ``/w/<slug>/``."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
