"""All routes: pages of a workspace under ``/w/<slug>/``, the API under ``/api/v1/``."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("corrections.api.urls")),  # first: it holds the hot path
    path("api/v1/", include("memory.api.urls")),
    path("admin/", admin.site.urls),
    path("w/<slug:slug>/", include("memory.web.urls")),
    path("w/<slug:slug>/", include("corrections.web.urls")),
]
