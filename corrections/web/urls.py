"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import overview, search

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("search/", search.search, name="search"),
]
