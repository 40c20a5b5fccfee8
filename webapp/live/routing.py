from django.urls import path

from .consumer import RunConsumer

websocket_urls = [path("ws/runs/<uuid:run_id>", RunConsumer.as_asgi())]
