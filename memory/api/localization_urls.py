"""Routes of locating and of localizations."""

from django.urls import path

from memory.api import localizations, locating

urlpatterns = [
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
]
