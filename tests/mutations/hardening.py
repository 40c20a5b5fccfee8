"""What an attack found: each guard that holds it off taken away, one at a time. The tests of `docs/reliability.md` must tell."""

from __future__ import annotations

from .core import Mutation

FILES = ("tests/workloads/test_hostile_files.py",)
UPLOADS = ("tests/web/test_hostile_uploads.py",)
PRIVATE = ("tests/web/test_data_directory.py",)
SESSIONS = ("tests/web/test_sessions.py",)
OUTAGES = ("tests/web/test_outages.py",)
DISK = ("tests/web/test_execution.py",)
LAUNCHER = ("tests/web/test_launcher.py",)
PROXIES = ("tests/web/test_proxies.py",)
LIVE = ("tests/web/test_live.py",)
KEYS = ("tests/web/test_idempotency.py",)
SLOW = ("tests/web/test_slow_clients.py",)
BODIES = ("tests/web/test_bad_input.py",)
STORAGE = ("tests/web/test_storage.py",)
CLOCK = ("tests/web/test_clock.py",)
LABS = ("tests/web/test_labs.py", "tests/web/test_walls.py")
PERSONS = ("tests/web/test_person_limits.py",)
RULES = ("tests/web/test_retention.py",)
FACTOR = ("tests/web/test_second_factor.py",)
SIGN_ON = ("tests/web/test_sign_on.py",)
PARQUET, LIMITED, ATTEMPTS = "engine/workloads/parquet_files.py", "webapp/lib/limited.py", "webapp/accounts/second_factor.py"
SERVICES, RETENTION = "scripts/launcher/services.py", "webapp/maintenance/retention.py"

MUTATIONS = (
    # uploads
    Mutation("hard: a file may unpack to any size", PARQUET, "if unpacked > UNPACKED_BYTES_MAX:", "if False:", FILES),
    Mutation("hard: a file may have any number of columns", PARQUET, "if len(names) > COLUMNS_MAX:", "if False:", FILES),
    Mutation(
        "hard: reading may take any memory",
        LIMITED,
        "resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))",
        "pass",
        UPLOADS,
    ),
    Mutation(
        "hard: reading may take any processor time",
        LIMITED,
        "resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))",
        "pass",
        UPLOADS,
    ),
    Mutation("hard: reading may take for ever", LIMITED, "if time.monotonic() > until_s:", "if False:", UPLOADS),
    Mutation("hard: reading goes on without its client", LIMITED, "if is_gone():", "if False:", UPLOADS),
    Mutation("hard: one person has all turns", "webapp/lib/turns.py", "< self.per_person), None)", "< 99), None)", UPLOADS),
    Mutation("hard: interrupted uploads stay", RETENTION, "    remove_uploads(now)\n", "", STORAGE),
    # local files
    Mutation("hard: new files are open", "webapp/data_directory.py", "    os.umask(denied)\n", "    os.umask(0o022)\n", PRIVATE),
    Mutation(
        "hard: old files stay open",
        "webapp/data_directory.py",
        "S_IMODE(os.lstat(path).st_mode) & ~denied)",
        "S_IMODE(os.lstat(path).st_mode))",
        PRIVATE,
    ),
    Mutation(
        "hard: the database signs in",
        "webapp/accounts/sessions.py",
        "    return hashlib.blake2b(",
        "    return key\n    hashlib.blake2b(",
        SESSIONS,
    ),
    # a part that is away
    Mutation("hard: an outage is an error", "webapp/lib/outages.py", "status=503", "status=500", OUTAGES),
    Mutation(
        "hard: a line for each request of an outage",
        "webapp/lib/outages.py",
        "            if self.since_s is None:\n",
        "            if True:\n",
        OUTAGES,
    ),
    Mutation(
        "hard: a full disk is any error", "workers/artifacts.py", "isinstance(error, OSError) and error.errno in DISK_FULL", "False", DISK
    ),
    Mutation("hard: free after the error", "workers/artifacts.py", 'getattr(error, "free_bytes", None)', "None", DISK),
    Mutation("hard: a flapping part is restarted at once", SERVICES, "min(PAUSE_S_MAX, 2.0 ** (self.failures - 2))", "0.0", LAUNCHER),
    Mutation("hard: a start has a fixed limit", SERVICES, "moved_s, before = now_s, state", "before = state", LAUNCHER),
    # addresses, logs
    Mutation("hard: any client is a proxy", "webapp/lib/proxies.py", "if not self._is_proxy(peer):", "if False:", PROXIES),
    Mutation("hard: the first address counts", "webapp/lib/proxies.py", "for address in reversed(known)", "for address in known", PROXIES),
    Mutation("hard: logs grow", SERVICES, "if self.log_bytes > LOG_BYTES_MAX or (", "if (", LAUNCHER),
    Mutation("hard: old logs stay", SERVICES, " or (self.log_bytes and time.monotonic() - self.log_since_s > LOG_AGE_S_MAX)", "", LAUNCHER),
    Mutation(
        "hard: a malformed origin",
        "webapp/live/listeners.py",
        "    except ValueError:  # it is no address\n",
        "    except KeyError:\n",
        LIVE,
    ),
    Mutation("hard: unknown sockets", "webapp/live/routing.py", '    re_path("", Nowhere.as_asgi()),\n', "", LIVE),
    # once, from outside
    Mutation("hard: a key for two requests", "webapp/api/idempotency.py", "if before.request != asked:", "if False:", KEYS),
    Mutation(
        "hard: carried out again", "webapp/api/idempotency.py", "if before is not None and not is_abandoned(before):", "if False:", KEYS
    ),
    Mutation("hard: errors are kept", "webapp/api/idempotency.py", "if response.status_code >= 400:", "if False:", KEYS),
    Mutation("hard: secrets are kept", "webapp/api/idempotency.py", '"" if row.is_secret else response', "response", KEYS),
    # slow and greedy clients
    Mutation("hard: headers may take for ever", "webapp/protocol.py", "self.loop.call_later(HEADERS_S,", "self.loop.call_later(1e6,", SLOW),
    Mutation("hard: bodies may take for ever", "webapp/lib/body_limit.py", "None if complete else PART_S", "None", SLOW),
    Mutation("hard: bodies of strangers", "webapp/accounts/strangers.py", "        if uploads and not", "        if False and not", SLOW),
    Mutation("hard: true is a number", "webapp/api/parsing.py", "Annotated[int, Strict()], Annotated", "int, Annotated", BODIES),
    # the clock
    Mutation("hard: a clock that was set", "workers/clock_watch.py", "if abs(jump_s) > JUMP_S:", "if False:", CLOCK),
    Mutation("hard: only a clock set forward", "workers/clock_watch.py", "abs(jump_s) > JUMP_S", "jump_s > JUMP_S", CLOCK),
    # walls
    Mutation(
        "hard: runs of other labs", "webapp/api/runs.py", "Run.objects.filter(pk=run_id, lab=lab, ", "Run.objects.filter(pk=run_id, ", LABS
    ),
    Mutation("hard: views of other labs", "webapp/api/views.py", "filter(pk=view_id, lab=lab, ", "filter(pk=view_id, ", LABS),
    Mutation("hard: a link opens all labs", "webapp/lab/people.py", "    if confined:\n", "    if False:\n", LABS),
    # people
    Mutation(
        "hard: no turns", "webapp/lab/fair_turns.py", "key=lambda one: (running[one], served[one], one)", "key=lambda one: one", PERSONS
    ),
    Mutation("hard: any number of running ones", "webapp/lab/fair_turns.py", " or running[person] < limit]", " or True]", PERSONS),
    Mutation(
        "hard: any number of waiting ones",
        "webapp/lab/person_limits.py",
        "if limit is not None and name and (waiting :=",
        "if False and (waiting :=",
        PERSONS,
    ),
    Mutation(
        "hard: any number of requests", "webapp/lab/person_limits.py", "return 0 if count <= limit else", "return 0 if True else", PERSONS
    ),
    Mutation("hard: codes may be guessed", ATTEMPTS, "if cache.incr(tries) > TRIES:", "if False:", FACTOR),
    Mutation(
        "hard: a password is enough",
        "webapp/api/session.py",
        "    if second_factor.is_active(user):\n        check_code",
        "    if False:\n        check_code",
        FACTOR,
    ),
    Mutation(
        "hard: an owner's link connects",
        "webapp/accounts/sign_on.py",
        "if is_connecting and request.session.get(CONFINED_TO_LAB):",
        "if False:",
        SIGN_ON,
    ),
    Mutation(
        "hard: who was deactivated comes in",
        "webapp/accounts/sign_on.py",
        "sociallogin.is_existing and not sociallogin.user.is_active",
        "False",
        SIGN_ON,
    ),
    # rules
    Mutation(
        "hard: rules take what has notes", "webapp/maintenance/rules.py", '    return ~Q(notes="") | Exists', "    return Exists", RULES
    ),
    Mutation(
        "hard: rules take what studies read",
        "webapp/maintenance/rules.py",
        " | Exists(baseline) | Exists(read)",
        " | Exists(baseline)",
        RULES,
    ),
    Mutation(
        "hard: what was taken back is taken again",
        "webapp/maintenance/rules.py",
        "taken = Q(removal__rule=rule.pk) if rule.pk else",
        "taken = Q(removal__rule=rule.pk, removal__undone_at=None) if rule.pk else",
        RULES,
    ),
)
