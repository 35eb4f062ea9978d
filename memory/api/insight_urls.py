"""Routes of the insights, under ``/api/v1/insights/``."""

from django.urls import path

from memory.api import insights, insights_sequences, insights_weak_spots

urlpatterns = [
    path("insights/speed", insights.SpeedInsight.as_view(), name="api-insights-speed"),
    path("insights/fastest", insights.FastestInsight.as_view(), name="api-insights-fastest"),
    path("insights/retries", insights.RetriesInsight.as_view(), name="api-insights-retries"),
    path("insights/sequences", insights_sequences.SequenceList.as_view(), name="api-insights-sequences"),
    path(
        "insights/sequences/<uuid:uuid>/template",
        insights_sequences.SequenceTemplate.as_view(),
        name="api-insights-sequence-template",
    ),
    path("insights/weak-spots", insights_weak_spots.WeakSpotList.as_view(), name="api-insights-weak-spots"),
    path(
        "insights/weak-spots/<uuid:uuid>",
        insights_weak_spots.WeakSpotOne.as_view(),
        name="api-insights-weak-spot",
    ),
]
