"""Routes of the memory API, under ``/api/v1/``."""

from django.urls import path

from memory.api import experiences, management, openapi

__all__ = ["openapi", "urlpatterns"]  # importing openapi registers its extensions

urlpatterns = [
    path("experiences", experiences.ExperienceList.as_view(), name="api-experiences"),
    path("experiences/<uuid:uuid>", experiences.ExperienceDetail.as_view(), name="api-experience"),
    path(
        "experiences/<uuid:uuid>/outcomes",
        experiences.ExperienceOutcomes.as_view(),
        name="api-experience-outcomes",
    ),
    path("payloads/<slug:digest>", experiences.PayloadDetail.as_view(), name="api-payload"),
    *management.urlpatterns,
]
