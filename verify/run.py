"""Run the suite in the Python that holds TensorFlow, whatever else happens to that Python.

    python -I run.py --expect expect.json --out results.jsonl [--suite a,b] [--profile quick|full]
                     [-n 2] [--site DIR] [--logs DIR] [--list]

TensorFlow can take its process with it (SIGSEGV, SIGFPE, SIGILL), and many of its flags are read
once per process. So checks run in groups, one pytest process per group with its own environment.
A process that dies fails the check that was running, and the rest of its group goes on in a new
process. Every result is written as it comes, one JSON object per line, after a header line; the
last line, the footer, says how much memory the largest process took.

This file is written for Python 3.6 and needs nothing but the standard library; pytest is found
in the interpreter or in `--site`.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = 1
POLL = 0.05  # seconds between two looks at a group
MEMORY_LIMIT = 6 << 30  # bytes resident in one process
# Settings of the caller that would change what a check sees.
SCRUBBED = ("TF_", "XLA_", "PYTHON", "KERAS_", "ONEDNN_", "DNNL_", "GRPC_")
# TensorFlow is started in its own process first; when that fails there is nothing to check.
IMPORT_GROUP = "import"
BOOT = (
    "import sys; sys.path.extend(p for p in sys.argv[1].split('|') if p); "
    "import pytest; sys.exit(pytest.main(sys.argv[2:]))"
)


class Results(object):
    """The results file: complete lines only, shared by the threads that run groups."""

    def __init__(self, path):
        self.stream = open(path, "w", encoding="utf-8")
        self.lock = threading.Lock()
        self.counts = {"passed": 0, "failed": 0, "skipped": 0, "known": 0}

    def header(self, fields):
        self._write(dict({"kind": "header", "schema": SCHEMA}, **fields))

    def footer(self, fields):
        self._write(dict({"kind": "footer"}, **fields))

    def add(self, result):
        with self.lock:
            self.counts[result["status"]] += 1
            self._write(result)

    def _write(self, record):
        self.stream.write(json.dumps(record, sort_keys=True) + "\n")
        self.stream.flush()


class Group(object):
    """Checks that share a process: their files, environment variables and time limit."""

    def __init__(self, fields, suites, profile):
        self.name = fields["name"]
        self.env = fields.get("env", {})
        self.env_needs = fields.get("env_needs", {})  # variable -> feature that understands it
        self.limit = fields.get("limit", 900)
        self.files = [
            f for f in fields["files"] if not suites or f in suites or f.split("/")[0] in suites
        ]
        self.in_profile = profile == "full" or fields.get("profile", "quick") == "quick"


class Runner(object):
    """Runs groups and writes their results."""

    def __init__(self, options, results):
        self.options = options
        self.results = results
        self.scratch = tempfile.mkdtemp(prefix="tfsuite-")
        self.processes = set()

    def stop(self, number, frame):
        """A signal that ends this process ends its groups, which are sessions of their own."""
        for process in list(self.processes):
            kill(process)
        self.close()
        os._exit(128 + number)

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def run(self, group):
        """Run `group` to its end, in as many processes as it takes."""
        done = {}
        started = time.time()
        while True:
            left = group.limit - (time.time() - started)
            attempt = Attempt(self, group, done, left)
            if attempt.run():
                return done
            if attempt.running is None or time.time() - started > group.limit:
                # Outside any check it would die again in the same way; without time it cannot run.
                self._fail_group(group, attempt)
                return done

    def _fail_group(self, group, attempt):
        for check in attempt.waiting():
            self.results.add(result(check, "failed", "not run: " + attempt.end, 0.0, group.name))
        if not attempt.collected:
            check = {"id": "group." + group.name, "suite": group.files[0].split("/")[0]}
            self.results.add(result(check, "failed", attempt.end, 0.0, group.name))


class Attempt(object):
    """One process of one group."""

    def __init__(self, runner, group, done, limit):
        self.runner = runner
        self.group = group
        self.done = done
        self.limit = limit
        self.collected = {}  # id -> suite
        self.running = None  # the check that has started and not ended
        self.since = 0.0
        self.finished = False
        self.end = ""
        self.folder = tempfile.mkdtemp(prefix=group.name + "-", dir=runner.scratch)

    def waiting(self):
        return [
            {"id": name, "suite": suite}
            for name, suite in sorted(self.collected.items())
            if name not in self.done
        ]

    def run(self):
        """True when the process came to its own end."""
        events = os.path.join(self.folder, "events.jsonl")
        open(events, "w").close()
        log_path = os.path.join(self.folder, "output.log")
        with open(log_path, "wb") as log, open(events, encoding="utf-8") as stream:
            process = self._start(events, log)
            self.runner.processes.add(process)
            try:
                self._watch(process, Lines(stream))
            finally:
                kill(process)
                self.runner.processes.discard(process)
        self._keep_log(log_path)
        if self.finished:
            return True
        self._explain(process.returncode, log_path)
        return False

    def _start(self, events, log):
        options = self.runner.options
        skip = os.path.join(self.folder, "done.json")
        with open(skip, "w") as stream:
            json.dump(sorted(self.done), stream)
        wanted = {
            name: value
            for name, value in self.group.env.items()
            if options.features.get(self.group.env_needs.get(name)) != "absent"
        }
        env = environment(wanted, self.folder, options.device)
        env.update(
            TFSUITE_EXPECT=os.path.abspath(options.expect),
            TFSUITE_EVENTS=events,
            TFSUITE_DONE=skip,
            TFSUITE_SCRATCH=self.folder,
            TFSUITE_PROFILE=options.profile,
        )
        command = pytest_command(options.site) + [
            os.path.join(HERE, *name.split("/")) for name in self.group.files
        ]
        return subprocess.Popen(
            command,
            env=env,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=os.name == "posix",
        )

    def _watch(self, process, lines):
        end = time.time() + max(self.limit, 1)
        while True:
            alive = process.poll() is None
            for event in lines.new():
                self._on(event)
            if not alive:
                return
            now = time.time()
            if now > end:
                self.end = "the group '%s' did not end in %d s" % (
                    self.group.name,
                    self.group.limit,
                )
                return
            if self.running is not None and now - self.since > self.running["limit"]:
                self.end = "did not end in %d s" % self.running["limit"]
                return
            if resident(process.pid) > MEMORY_LIMIT:
                self.end = "took more than %d MiB of memory" % (MEMORY_LIMIT >> 20)
                return
            time.sleep(POLL)

    def _on(self, event):
        kind = event.pop("event")
        if kind == "collected":
            self.collected = event["checks"]
        elif kind == "start":
            self.running = event
            self.since = time.time()
        elif kind == "result":
            self.running = None
            event["group"] = self.group.name
            self.done[event["id"]] = event["status"]
            self.runner.results.add(event)
        elif kind == "unreadable":
            self.end = "its checks cannot be read: " + event["detail"]
        elif kind == "finished":
            self.finished = True

    def _explain(self, code, log_path):
        reason = self.end or death(code)
        where = last_frame(log_path)
        self.end = reason + (" at " + where if where else "")
        if self.running is None:
            tail = "" if self.end.startswith("its checks") else last_lines(log_path)
            self.end += ": " + tail if tail else ""
            return
        seconds = time.time() - self.since
        failed = result(self.running, "failed", self.end, seconds, self.group.name)
        self.done[failed["id"]] = "failed"
        self.runner.results.add(failed)

    def _keep_log(self, log_path):
        folder = self.runner.options.logs
        if not folder:
            return
        with open(log_path, "rb") as source:
            with open(os.path.join(folder, self.group.name + ".log"), "ab") as target:
                shutil.copyfileobj(source, target)


class Lines(object):
    """Complete lines of a file that another process appends to."""

    def __init__(self, stream):
        self.stream = stream
        self.rest = ""

    def new(self):
        self.rest += self.stream.read()
        lines = self.rest.split("\n")
        self.rest = lines.pop()
        return [json.loads(line) for line in lines]


def result(check, status, detail, seconds, group):
    return {
        "id": check["id"],
        "suite": check["suite"],
        "status": status,
        "detail": detail,
        "seconds": round(seconds, 3),
        "group": group,
    }


def environment(extra, scratch, device):
    """The caller's environment without the settings that would change a result."""
    env = {k: v for k, v in os.environ.items() if not k.upper().startswith(SCRUBBED)}
    env["TF_CPP_MIN_LOG_LEVEL"] = "1"
    env["KERAS_HOME"] = os.path.join(scratch, "keras")
    if device == "cpu":
        env["CUDA_VISIBLE_DEVICES"] = "-1"
    for key, value in extra.items():
        env[key] = value.replace("{scratch}", scratch)
    return env


def pytest_command(site):
    # -I: neither the current folder nor the caller's PYTHONPATH may stand before TensorFlow's
    # own imports (a file named imp.py there breaks TensorFlow on Python 3.7).
    paths = "|".join([site or "", os.path.join(HERE, "lib")])
    return [
        sys.executable,
        "-I",
        "-c",
        BOOT,
        paths,
        "-c",
        os.path.join(HERE, "pytest.ini"),
        "--rootdir=" + HERE,
        "--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "-q",
        "-s",
    ]


def kill(process):
    """End a process and all that it started."""
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    elif process.poll() is None:
        process.kill()
    process.wait()


def resident(pid):
    """Resident bytes of a process; 0 where the system does not say."""
    try:
        with open("/proc/%d/statm" % pid) as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError, AttributeError):
        return 0


def largest():
    """Bytes that were resident in the largest process so far; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit


def death(code):
    if code < 0:
        try:
            return "the process died of " + signal.Signals(-code).name
        except ValueError:
            return "the process died of signal %d" % -code
    return "the process ended with status %d" % code


def last_frame(log_path):
    """The innermost Python frame that faulthandler printed: the last operation."""
    with open(log_path, encoding="utf-8", errors="replace") as stream:
        lines = stream.read().splitlines()
    for number, line in enumerate(lines):
        if "(most recent call first)" in line and number + 1 < len(lines):
            return lines[number + 1].strip()
    return ""


def last_lines(log_path, count=4):
    with open(log_path, encoding="utf-8", errors="replace") as stream:
        lines = [line.strip() for line in stream if line.strip()]
    return " | ".join(lines[-count:])[-600:]


def run_all(groups, runner, count):
    """Run groups, `count` at a time, the slow ones first."""
    queue = list(groups)
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not queue:
                    return
                group = queue.pop(0)
            runner.run(group)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(1)  # not without end: signals are handled between two waits


def skip_all(groups, options, results, reason):
    """Without TensorFlow nothing can be checked: say so for every check."""
    for group in groups:
        for check in listing(group.files, options.site):
            results.add(result(check, "skipped", reason, 0.0, group.name))


def listing(files, site):
    """The checks of some files, without running them."""
    folder = tempfile.mkdtemp(prefix="tfsuite-list-")
    try:
        path = os.path.join(folder, "list.json")
        env = environment({"TFSUITE_LIST": path}, folder, "auto")
        names = [os.path.join(HERE, *name.split("/")) for name in files]
        command = pytest_command(site) + ["--collect-only"] + names
        done = subprocess.run(
            command, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode or not os.path.exists(path):
            raise SystemExit("the suite cannot be read:\n" + done.stdout.decode("utf-8", "replace"))
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_groups(suites, profile):
    """The first group, the others that were asked for, and the names of those left out."""
    with open(os.path.join(HERE, "groups.json"), encoding="utf-8") as stream:
        fields = json.load(stream)["groups"]
    import_group = [g for g in fields if g["name"] == IMPORT_GROUP]
    others = [g for g in fields if g["name"] != IMPORT_GROUP]
    groups = [g for g in (Group(g, suites, profile) for g in others) if g.files]
    chosen = [g for g in groups if g.in_profile]
    left_out = [g.name for g in groups if not g.in_profile]
    return Group(import_group[0], None, "full"), chosen, left_out


def known_files():
    with open(os.path.join(HERE, "groups.json"), encoding="utf-8") as stream:
        fields = json.load(stream)["groups"]
    return {f for g in fields for f in g["files"]}


def known_suites():
    return sorted({f.split("/")[0] for f in known_files()})


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--expect", help="what this wheel should be (JSON)")
    parser.add_argument("--out", help="where the results go, one JSON object per line")
    parser.add_argument("--suite", default="", help="areas or their files, separated by commas")
    parser.add_argument("--profile", choices=("quick", "full"), default="quick")
    parser.add_argument("-n", type=int, default=1, help="groups at a time")
    parser.add_argument("--site", default="", help="folder with pytest, when Python has none")
    parser.add_argument("--logs", default="", help="folder for the output of each group")
    parser.add_argument("--list", action="store_true", help="print the checks, run nothing")
    options = parser.parse_args(argv)
    options.suites = [name for name in options.suite.split(",") if name]
    known = known_files().union(known_suites())
    unknown = [name for name in options.suites if name not in known]
    if unknown:
        parser.error("no suite %s; there are %s" % (unknown[0], ", ".join(known_suites())))
    if not options.list and not (options.expect and options.out):
        parser.error("--expect and --out are needed")
    return options


def main(argv):
    options = parse(argv)
    first, groups, left_out = read_groups(options.suites, options.profile)
    if options.list:
        for check in listing([f for g in [first] + groups for f in g.files], options.site):
            print(json.dumps(check, sort_keys=True))
        return 0
    with open(options.expect, encoding="utf-8") as stream:
        expect = json.load(stream)
    options.device = expect.get("device", "auto")
    options.features = expect.get("features", {})
    if options.logs and not os.path.isdir(options.logs):
        os.makedirs(options.logs)
    results = Results(options.out)
    results.header(
        {
            "python": platform.python_version(),
            "executable": sys.executable,
            "machine": platform.platform(),
            "profile": options.profile,
            "suites": options.suites or known_suites(),
            "all_suites": known_suites(),
            "groups": [g.name for g in [first] + groups],
            "left_out": left_out,
        }
    )
    runner = Runner(options, results)
    signal.signal(signal.SIGTERM, runner.stop)
    signal.signal(signal.SIGINT, runner.stop)
    try:
        if "passed" in runner.run(first).values():
            run_all(groups, runner, max(options.n, 1))
        else:
            skip_all(groups, options, results, "TensorFlow cannot be imported, see device.import")
        results.footer({"peak_bytes": largest()})
    finally:
        runner.close()
    return 0 if results.counts["passed"] and not results.counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
