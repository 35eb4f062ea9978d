"""Pages of the insights, under ``/w/<slug>/insights/``."""

from django.urls import path

from memory.web import insights_retries, insights_speed

urlpatterns = [
    path("insights/", insights_speed.speed, name="insights"),
    path("insights/retries/", insights_retries.retries, name="insights-retries"),
]
