"""What the ASGI server runs: Django for HTTP, Channels for the live stream."""

import gc
import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
http = get_asgi_application()  # sets Django up; the imports below need it

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import SessionMiddlewareStack  # noqa: E402
from django.conf import settings  # noqa: E402

from webapp.api.documents import descriptions  # noqa: E402
from webapp.lib.body_limit import BodyLimit  # noqa: E402
from webapp.live.routing import websocket_urls  # noqa: E402

MULTIPART_OVERHEAD_BYTES = 64 * 1024


def limit_bytes(path: str) -> int:
    """The largest body that an address takes."""
    if path.rstrip("/") == "/api/datasets":
        return settings.UPLOAD_BYTES_MAX + MULTIPART_OVERHEAD_BYTES
    return settings.DOCUMENT_BYTES_MAX


descriptions()  # every page asks for them first; they take a second to make

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(http, limit_bytes),
        "websocket": SessionMiddlewareStack(URLRouter(websocket_urls)),
    }
)

# What is here by now stays. Full collections, which come amid requests, need not look through its 150,000 objects each time.
gc.collect()
gc.freeze()
