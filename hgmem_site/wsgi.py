"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hgmem_site.settings")
_application = get_wsgi_application()

from corrections.live.announcing import start_serving  # noqa: E402 - needs the applications
from hgmem_site.whole_answers import WholeAnswers  # noqa: E402

application = WholeAnswers(_application)
start_serving()
