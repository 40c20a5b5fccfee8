from django.urls import path

from .consumer import NewsConsumer, RunConsumer

websocket_urls = [path("ws/runs/<uuid:run_id>", RunConsumer.as_asgi()), path("ws/news", NewsConsumer.as_asgi())]
