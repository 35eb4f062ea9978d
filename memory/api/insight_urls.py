"""Routes of the insights API."""

from django.urls import path

from memory.api import insights

urlpatterns = [
    path("insights/speed", insights.SpeedInsight.as_view(), name="api-insights-speed"),
    path("insights/fastest", insights.FastestInsight.as_view(), name="api-insights-fastest"),
    path("insights/retries", insights.RetriesInsight.as_view(), name="api-insights-retries"),
]
