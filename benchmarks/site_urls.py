"""The product's routes and the floors beside them. Only benchmarks load this."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hgmem_site.urls import urlpatterns as site


class Empty(APIView):
    """A REST framework view that does nothing: no key, no body read."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        """Nothing."""
        return Response({})


@csrf_exempt
def plain(request: HttpRequest) -> HttpResponse:
    """A plain Django view that does nothing."""
    return HttpResponse(b"{}", content_type="application/json")


urlpatterns = [path("api/v1/empty", Empty.as_view()), path("api/v1/plain", plain), *site]
