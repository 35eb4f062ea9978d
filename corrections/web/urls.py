"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import health, overview, patterns, search, tasks

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("health/", health.health, name="health"),
    path("search/", search.search, name="search"),
    path("tasks/<uuid:uuid>/", tasks.task, name="task"),
    path("patterns/<uuid:uuid>/", patterns.pattern, name="pattern"),
]
