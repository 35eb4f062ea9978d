"""Pages of the insights, under ``/w/<slug>/insights/``."""

from django.urls import path

from memory.web import insights_speed

urlpatterns = [
    path("insights/", insights_speed.speed, name="insights"),
]
