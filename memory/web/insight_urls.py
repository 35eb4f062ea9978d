"""Pages of the insights, under ``/w/<slug>/insights/``."""

from django.urls import path

from memory.web import insights_retries, insights_sequences, insights_speed, insights_weak_spots

urlpatterns = [
    path("insights/", insights_speed.speed, name="insights"),
    path("insights/retries/", insights_retries.retries, name="insights-retries"),
    path("insights/sequences/", insights_sequences.sequences, name="insights-sequences"),
    path(
        "insights/sequences/<uuid:uuid>/template/",
        insights_sequences.sequence_template,
        name="insights-sequence-template",
    ),
    path("insights/weak-spots/", insights_weak_spots.weak_spots, name="insights-weak-spots"),
]
