"""Django settings. All differences between a laptop and a lab come from the environment:

MILLRACE_DATA            directory of the database, files, sockets and logs (default: data/ in the checkout); closed to other users
MILLRACE_SECRET_KEY      default: a random key kept in the data directory
MILLRACE_HTTPS           1 behind a proxy that terminates TLS: secure cookies, HSTS
MILLRACE_PROXIES         addresses and networks of proxies, separated by commas, whose X-Forwarded-For and X-Forwarded-Proto are believed
                         (default: none; with MILLRACE_HTTPS this machine)
MILLRACE_OIDC_URL        address of an OpenID Connect provider (its issuer), to sign in through it; with MILLRACE_OIDC_CLIENT and
                         MILLRACE_OIDC_SECRET, as it issued them, and MILLRACE_OIDC_NAME, its name on the page
MILLRACE_OIDC_ROLE       role in the first lab of people whom the provider sends for the first time: viewer or member (default: none; they
                         need an invitation)
MILLRACE_UPLOAD_MB_MAX   maximum size of an uploaded data set (default: 256)
MILLRACE_READING_MB_MAX  memory that reading one upload may need (default: 1024)
MILLRACE_READING_S_MAX   processor time that reading one upload may need, in seconds (default: 120)
MILLRACE_LOG_FORMAT      lines (default), or json: one object per line, with the ids of request, run and study
DATABASE_URL             default: SQLite in the data directory; for a lab: postgresql://...
MILLRACE_CONNECTION_S    how long a thread keeps its connection to the database (default: 0, until its request ends); there are up to 200
                         threads (webapp/handler.py), so the database must allow as many connections
REDIS_URL                default: the unix socket in the data directory; for a lab: redis://...
ALLOWED_HOSTS            host names, separated by commas (default: this machine only)
CSRF_TRUSTED_ORIGINS     origins, separated by commas, if the proxy's address differs from the Host header
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import dj_database_url

from . import environment
from .data_directory import keep_private

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(environment.text("MILLRACE_DATA", str(BASE_DIR / "data"))).resolve()
DATASETS_DIR, RUNS_DIR, UPLOADS_DIR, ANALYSIS_DIR = (DATA_DIR / name for name in ("datasets", "runs", "uploads", "analysis"))
DATA_CLOSED = keep_private(DATA_DIR)
"""What was open to other users until this process started: one line for the log, or empty."""
for directory in (DATASETS_DIR, RUNS_DIR, UPLOADS_DIR, ANALYSIS_DIR):
    directory.mkdir(parents=True, exist_ok=True)

SECRET_KEY = environment.secret_key(DATA_DIR)
DEBUG = False
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "channels",
    "ninja",  # only so that the API's documentation page is served from here, not from a CDN
    "webapp.accounts",
    "webapp.lab",
    "webapp.reports",  # for its template
]
MIGRATION_MODULES = {"accounts": "migrations.accounts", "lab": "migrations.lab"}
MIDDLEWARE = [
    "webapp.lib.logs.request_ids",
    "django.middleware.security.SecurityMiddleware",
    "webapp.lib.security.content_security_policy",
    "webapp.lib.static.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "webapp.lib.outages.watched",
    "webapp.api.idempotency.keyed",
    "webapp.accounts.audit.AuditLog",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "webapp.urls"
ASGI_APPLICATION = "webapp.asgi.application"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
APPEND_SLASH = False

# --- database -----------------------------------------------------------------------------------------------------------------------------
DATABASES = {"default": dj_database_url.parse(environment.text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'millrace.sqlite3'}"))}
DATABASES["default"] |= {"CONN_MAX_AGE": environment.whole_number("MILLRACE_CONNECTION_S", 0), "CONN_HEALTH_CHECKS": True}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        # Writers wait for each other instead of failing. Transactions take the write lock at their start: one that reads first and
        # # writes later could not wait, but would fail at once.
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32768;",
    }
else:
    # Queries take milliseconds, less than compiling them or starting parallel workers. Modern disks read any page as fast as the
    # # next one. `options` in the database URL override this.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault(
        "options", "-c jit=off -c max_parallel_workers_per_gather=0 -c random_page_cost=1.1"
    )
SILENCED_SYSTEM_CHECKS = ["models.W040"]  # SQLite has no INCLUDE; `CoveringIndex` has those columns in another way
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"

# Counts of failed sign-ins, which all web processes share. In the database, without which nobody can sign in anyway.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "cache", "OPTIONS": {"MAX_ENTRIES": 100_000}}}

# --- Redis: the Celery queue and the live frames ------------------------------------------------------------------------------------------
REDIS_URL = environment.text("REDIS_URL", f"unix://{DATA_DIR / 'redis.sock'}?db=0")
CELERY_BROKER_URL = environment.celery_broker_url(REDIS_URL)

# --- limits -------------------------------------------------------------------------------------------------------------------------------
DOCUMENT_BYTES_MAX = 2 * 1024 * 1024  # twice the largest document, so that validation reports documents that are slightly too large
UPLOAD_BYTES_MAX = environment.whole_number("MILLRACE_UPLOAD_MB_MAX", 256, minimum=1) * 1024 * 1024
READING_MB_MAX = environment.whole_number("MILLRACE_READING_MB_MAX", 1024, minimum=128)
READING_CPU_S_MAX = environment.whole_number("MILLRACE_READING_S_MAX", 120, minimum=1)
DATA_UPLOAD_MAX_MEMORY_SIZE = DOCUMENT_BYTES_MAX
FILE_UPLOAD_TEMP_DIR = UPLOADS_DIR
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]

# --- security -----------------------------------------------------------------------------------------------------------------------------
HTTPS = environment.flag("MILLRACE_HTTPS")
SESSION_ENGINE = "webapp.accounts.sessions"
# Browsers share cookies between the ports of a host. Each checkout has its own session cookie, so that several can run side by side.
SESSION_COOKIE_NAME = "millrace_" + hashlib.blake2b(str(DATA_DIR).encode(), digest_size=4).hexdigest()
SESSION_COOKIE_AGE = 30 * 24 * 3600
SESSION_COOKIE_HTTPONLY, SESSION_COOKIE_SAMESITE, SESSION_COOKIE_SECURE = True, "Lax", HTTPS
CSRF_COOKIE_SAMESITE, CSRF_COOKIE_SECURE = "Lax", HTTPS
CSRF_FAILURE_VIEW = "webapp.lib.errors.csrf_failure"
SIGN_IN_WAIT_S = 300  # after five wrong passwords for a name; ten from one address wait a minute
ACCOUNT_RATE_LIMITS = {"login_failed": f"10/m/ip,5/{SIGN_IN_WAIT_S}s/key"}
ACCOUNT_LOGIN_METHODS, ACCOUNT_SIGNUP_FIELDS, ACCOUNT_EMAIL_VERIFICATION = {"username"}, ["username*", "password1*"], "none"
PROXIES = environment.networks("MILLRACE_PROXIES", "127.0.0.1, ::1" if HTTPS else "")
ALLAUTH_TRUSTED_PROXY_COUNT = 0  # webapp.lib.proxies has put the client's address in place of the proxy's
MFA_ADAPTER, MFA_TOTP_ISSUER, MFA_SUPPORTED_TYPES = "webapp.accounts.second_factor.Adapter", "Millrace", ["totp", "recovery_codes"]

# Sign-on through an identity provider, if one is named.
SIGN_ON_URL = environment.text("MILLRACE_OIDC_URL", "").rstrip("/")
SIGN_ON_NAME = environment.text("MILLRACE_OIDC_NAME", "single sign-on")
SIGN_ON_ROLE = environment.one_of("MILLRACE_OIDC_ROLE", "", "viewer", "member")
SOCIALACCOUNT_ADAPTER, SOCIALACCOUNT_LOGIN_ON_GET = "webapp.accounts.sign_on.Adapter", False
SOCIALACCOUNT_PROVIDERS = environment.identity_providers(
    SIGN_ON_URL, SIGN_ON_NAME, environment.text("MILLRACE_OIDC_CLIENT", ""), environment.text("MILLRACE_OIDC_SECRET", "")
)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SECURE_CONTENT_TYPE_NOSNIFF, SECURE_REFERRER_POLICY, X_FRAME_OPTIONS = True, "same-origin", "DENY"
if HTTPS:
    SECURE_HSTS_SECONDS = 365 * 24 * 3600

# --- files --------------------------------------------------------------------------------------------------------------------------------
FRONTEND_DIST = BASE_DIR / "frontend" / "dist"
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True  # the few static files of the API's documentation page
WHITENOISE_AUTOREFRESH = False
WHITENOISE_ALLOW_ALL_ORIGINS = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "webapp.lib.logs.Lines"}, "json": {"()": "webapp.lib.logs.JsonLines"}},
    "filters": {
        "no_outages": {"()": "webapp.lib.logs.NotOfAnOutage"},
        "no_outages_of_redis": {"()": "webapp.lib.redis_outages.NotOfAnOutageOfRedis"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": environment.one_of("MILLRACE_LOG_FORMAT", "lines", "json"),
            "filters": ["no_outages_of_redis"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django.request": {"level": "ERROR", "filters": ["no_outages"]},
        "django.security": {"level": "ERROR"},
        "httpx": {"level": "WARNING"},
        "py4j": {"level": "WARNING"},
        **{name: {"handlers": [], "propagate": True} for name in ("uvicorn", "uvicorn.access")},  # as all others
    },
}
