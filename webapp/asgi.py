"""The ASGI application: Django for HTTP, Channels for the live stream."""

import gc
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import SessionMiddlewareStack  # noqa: E402
from django.conf import settings  # noqa: E402

from webapp.accounts.strangers import StrangersRefused  # noqa: E402
from webapp.api.documents import descriptions  # noqa: E402
from webapp.handler import OneThreadHandler  # noqa: E402
from webapp.lib.body_limit import BodyLimit  # noqa: E402
from webapp.lib.clients import Departures  # noqa: E402
from webapp.lib.proxies import ForwardedHeaders  # noqa: E402
from webapp.live.routing import websocket_urls  # noqa: E402

MULTIPART_OVERHEAD_BYTES = 64 * 1024
UPLOADS = ("/api/datasets", "/api/datasets/preview", "/api/learning/import/models", "/api/learning/import/corpora")


def is_upload(path: str) -> bool:
    return path.rstrip("/") in UPLOADS


def limit_bytes(path: str) -> int:
    """Return the maximum body size of a path."""
    if is_upload(path):
        return settings.UPLOAD_BYTES_MAX + MULTIPART_OVERHEAD_BYTES
    return settings.DOCUMENT_BYTES_MAX


descriptions()  # every page requests them first, and building them takes a second

application = ForwardedHeaders(
    ProtocolTypeRouter(
        {
            "http": StrangersRefused(BodyLimit(Departures(OneThreadHandler()), limit_bytes), is_upload),
            "websocket": SessionMiddlewareStack(URLRouter(websocket_urls)),
        }
    ),
    settings.PROXIES,
)

# Views run in threads. The event loop gives up the interpreter with each message it sends to a viewer, and would get it back only
# after a busy thread's turn of 5 ms, as is the default: a quarter of a second for one message to 50 viewers.
sys.setswitchinterval(0.0005)

# The 150,000 objects that exist now stay. Freeze them, so that full collections during requests need not scan them.
gc.collect()
gc.freeze()
