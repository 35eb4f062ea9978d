"""Routes of path memory, under ``/api/v1/``."""

from django.urls import path

from memory.api import path_changes, paths

urlpatterns = [
    path("paths", paths.PathList.as_view(), name="api-paths"),
    path("paths/import", path_changes.ImportPaths.as_view(), name="api-paths-import"),
    path("paths/templates", path_changes.SwitchTemplates.as_view(), name="api-paths-templates"),
    path("paths/<uuid:uuid>", paths.PathOne.as_view(), name="api-path"),
    path("paths/<uuid:uuid>/versions", path_changes.PathVersionList.as_view(), name="api-path-versions"),
    path("paths/<uuid:uuid>/prompt", paths.PathPromptText.as_view(), name="api-path-prompt"),
    path("paths/<uuid:uuid>/graph", paths.PathGraphData.as_view(), name="api-path-graph"),
    path("paths/<uuid:uuid>/rollback", path_changes.RollBackPath.as_view(), name="api-path-rollback"),
    path("paths/<uuid:uuid>/retire", path_changes.RetirePath.as_view(), name="api-path-retire"),
]
