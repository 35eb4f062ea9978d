"""Routes of the memory API, under ``/api/v1/``."""

from django.urls import path

from memory.api import experiences, imports, localizations, locating, management, openapi, path_urls

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
    path("imports", imports.ImportList.as_view(), name="api-imports"),
    path("imports/<uuid:uuid>", imports.ImportDetail.as_view(), name="api-import"),
    path("imports/<uuid:uuid>/apply", imports.ApplyImport.as_view(), name="api-import-apply"),
    path("imports/<uuid:uuid>/cancel", imports.CancelImport.as_view(), name="api-import-cancel"),
    *path_urls.urlpatterns,
    path("paths/locate", locating.LocatePaths.as_view(), name="api-paths-locate"),
    path("localizations", localizations.LocalizationList.as_view(), name="api-localizations"),
    path("localizations/<uuid:uuid>", localizations.LocalizationDetail.as_view(), name="api-localization"),
    path(
        "localizations/<uuid:uuid>/feedback",
        localizations.LocalizationFeedback.as_view(),
        name="api-localization-feedback",
    ),
    path(
        "localizations/<uuid:uuid>/review",
        localizations.LocalizationReview.as_view(),
        name="api-localization-review",
    ),
    *management.urlpatterns,
]
