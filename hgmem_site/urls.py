"""All routes: pages of a workspace under ``/w/<slug>/``, the API under ``/api/v1/``."""

from django.contrib import admin
from django.urls import include, path

from hgmem_site import probes
from memory.web import account

handler404 = "hgmem_site.errors.not_found"
handler500 = "hgmem_site.errors.server_error"

urlpatterns = [
    path("api/v1/", include("corrections.api.urls")),  # first: it holds the hot path
    path("api/v1/", include("memory.api.urls")),
    path("healthz", probes.healthz, name="healthz"),
    path("readyz", probes.readyz, name="readyz"),
    path("", account.home, name="home"),
    path("login/", account.login, name="login"),
    path("logout/", account.logout, name="logout"),
    path("password/", account.password, name="password"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
    path("w/<slug:slug>/", include("memory.web.urls")),
    path("w/<slug:slug>/", include("corrections.web.urls")),
    path("w/<slug:slug>/", include("hgmem_site.demo.urls")),
]
