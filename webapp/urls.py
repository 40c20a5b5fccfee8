"""URLs. Everything except the API, sign-in, metrics and static files is a page of the browser's router."""

from allauth.socialaccount.providers.openid_connect.views import callback
from django.urls import path, re_path

from webapp.accounts.views import sign_in
from webapp.api import api
from webapp.lib.static import page
from webapp.metrics import metrics

urlpatterns = [
    path("api/", api.urls),
    path("metrics", metrics, name="metrics"),
    path("signin", sign_in, name="signin"),
    path("signin/<str:provider_id>/callback", callback, name="openid_connect_callback"),
    re_path(r"^(?!api/|ws/|static/|assets/).*$", page),
]
handler400 = "webapp.lib.errors.bad_request"
handler403 = "webapp.lib.errors.forbidden"
handler404 = "webapp.lib.errors.not_found"
handler500 = "webapp.lib.errors.server_error"
