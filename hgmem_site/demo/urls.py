"""Pages of the demo, under ``/w/<slug>/learn/``."""

from django.urls import path

from hgmem_site.demo import pages

urlpatterns = [
    path("learn/", pages.learn, name="learn"),
    path("learn/start/", pages.learn_start, name="learn-start"),
    path("learn/stop/", pages.learn_stop, name="learn-stop"),
    path("learn/again/", pages.learn_again, name="learn-again"),
]
