from django.urls import path, re_path

from .consumer import NewsConsumer, Nowhere, RunConsumer

websocket_urls = [
    path("ws/runs/<uuid:run_id>", RunConsumer.as_asgi()),
    path("ws/news", NewsConsumer.as_asgi()),
    re_path("", Nowhere.as_asgi()),
]
