"""Routes of the memory API, under ``/api/v1/``."""

from django.urls import path

from memory.api import (
    experiences,
    imports,
    insight_urls,
    localization_urls,
    management,
    openapi,
    path_urls,
    rewrite_urls,
    traces,
)

__all__ = ["openapi", "urlpatterns"]  # importing openapi registers its extensions

urlpatterns = [
    path("experiences", experiences.ExperienceList.as_view(), name="api-experiences"),
    path("experiences/<uuid:uuid>", experiences.ExperienceDetail.as_view(), name="api-experience"),
    path(
        "experiences/<uuid:uuid>/outcomes",
        experiences.ExperienceOutcomes.as_view(),
        name="api-experience-outcomes",
    ),
    path("traces", traces.Traces.as_view(), name="api-traces"),
    path("payloads/<slug:digest>", experiences.PayloadDetail.as_view(), name="api-payload"),
    path("imports", imports.ImportList.as_view(), name="api-imports"),
    path("imports/<uuid:uuid>", imports.ImportDetail.as_view(), name="api-import"),
    path("imports/<uuid:uuid>/apply", imports.ApplyImport.as_view(), name="api-import-apply"),
    path("imports/<uuid:uuid>/cancel", imports.CancelImport.as_view(), name="api-import-cancel"),
    *insight_urls.urlpatterns,
    *localization_urls.urlpatterns,
    *path_urls.urlpatterns,
    *rewrite_urls.urlpatterns,
    *management.urlpatterns,
]
