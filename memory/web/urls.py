"""Pages of the memory app, under ``/w/<slug>/``."""

from django.urls import path

from memory.web import patterns, tasks

urlpatterns = [
    path("tasks/", tasks.tasks, name="tasks"),
    path("tasks/<uuid:uuid>/", tasks.task, name="task"),
    path("payloads/<slug:digest>/", tasks.payload, name="payload"),
    path("patterns/", patterns.patterns, name="patterns"),
    path("patterns/<uuid:uuid>/triage/", patterns.triage, name="pattern-triage"),
]
