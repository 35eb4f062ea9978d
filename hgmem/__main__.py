"""``python -m hgmem``."""

import sys

from hgmem.command.main import main

sys.exit(main())
