#!/usr/bin/env python3
"""Measure each call of the API over a database with many jobs, and the dashboard's first
view.

  large.py READPAST KIND JOBS [long]

With JOBS jobs in the database, 99 of 100 calls of each kind should end within 300 ms.
With `long` a slower call is a failure, and so is a first view of the dashboard in
Chromium that takes more than 500 ms (median of 5). Prints the times.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import pathlib
import subprocess
import sys
import tempfile
import time

from serving import Server

JOBS = int(sys.argv[3])
LONG = sys.argv[4:] == ["long"]
MOST_S = 0.3 if LONG else 10
FIRST_VIEW = pathlib.Path(__file__).parent / "../web/first-view.js"
FIRST_VIEW_MS = 500
ROUNDS = 100 if LONG else 3
AT_ONCE = 1000
# How many of 100 jobs are in a queue of this kind.
SHARES = {"ready": 50, "later": 20, "grouped": 10, "dead": 10, "done": 10}


def body_of(name, first):
    """Return the body of a request that enqueues AT_ONCE jobs."""
    def job(n):
        made = {"payload": "x" * 200, "kind": f"kind-{n % 10}"}
        if name == "later":
            made["delay"] = "7d"
        elif name == "grouped":
            made["group"] = f"g{n % 100000}"
        return made

    return {"jobs": [job(n) for n in range(first, first + AT_ONCE)]}


def settle(server, name, count):
    """Claim this many jobs of the queue `dead` or `done`, and settle them so."""
    for _ in range(0, count, AT_ONCE):
        verdicts = [{"claim": job["claim"], "verdict": name}
                    for job in server.claim(name, max=AT_ONCE)]
        for n, verdict in enumerate(verdicts):
            if name == "dead":
                verdict["error"] = f"host {n % 50}: refused"
        answer = server.post("/v1/verdicts", {"verdicts": verdicts})
        assert answer.status == 200, answer


def fill(server):
    for name, share in SHARES.items():
        limit = {"group_limit": 1} if name == "grouped" else {}
        server.ask("PUT", f"/v1/queues/{name}", {"keep_done": "30d", **limit})
        count = JOBS * share // 100
        for first in range(0, count, AT_ONCE):
            answer = server.post(f"/v1/queues/{name}/jobs", body_of(name, first))
            assert answer.status == 201, answer
        if name in ("dead", "done"):
            settle(server, name, count)


def calls(server):
    """Yield (method, path, body) of each call to measure."""
    page = server.get("/v1/jobs?queue=ready&state=ready&limit=200").json
    some = page["jobs"][-1]["id"]
    dead = server.get("/v1/jobs?queue=dead&state=dead&limit=1").json["jobs"][0]["id"]
    done = server.get("/v1/jobs?queue=done&state=done&limit=1").json["jobs"][0]["id"]
    waits = server.get("/v1/jobs?queue=grouped&state=blocked&limit=1").json["jobs"]
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/v1/session",
                 "/v1/queues", "/v1/schedules", "/v1/workers", "/v1/doctor", "/v1/stats",
                 "/v1/groups?queue=grouped", "/v1/groups?queue=grouped&blocked=true"):
        yield "GET", path, None
    for name in SHARES:
        yield "GET", f"/v1/queues/{name}", None
        yield "GET", f"/v1/stats?queue={name}", None
        yield "GET", f"/v1/jobs?queue={name}&limit=200", None
        yield "GET", f"/v1/jobs?queue={name}&kind=none", None
    for filters in ("", "state=ready", "state=scheduled", "state=running", "state=blocked",
                    "state=dead", "state=done", "kind=kind-3", "kind=none", "key=none",
                    "group=g7", "group=none", "state=dead&error=none", "older=1s",
                    "older=30d", "state=dead&error=refused", "state=done&kind=none",
                    "queue=ready&state=ready&limit=200&cursor=" + (page["next"] or "")):
        yield "GET", f"/v1/jobs?{filters}", None
    for job in (some, dead, done, *(w["id"] for w in waits)):
        for part in ("", "/why", "/outcome?wait=0s"):
            yield "GET", f"/v1/jobs/{job}{part}", None
    yield "GET", f"/v1/jobs/{some}/payload", None
    for name in SHARES:
        yield "POST", f"/v1/queues/{name}/cancel?dry_run=1", {}
        yield "POST", f"/v1/queues/{name}/retry-dead?dry_run=1", {}
        for state in ("dead", "done"):
            yield "POST", f"/v1/queues/{name}/purge?dry_run=1", {"state": state}
    yield "POST", "/v1/queues/dead/retry-dead?dry_run=1", {"error": "none"}
    yield "POST", "/v1/queues/ready/pause", {"reason": "a test"}
    yield "POST", "/v1/queues/ready/resume", {}
    yield "POST", "/v1/queues/new/jobs", {"payload": "x"}
    yield "POST", "/v1/claim", {"queues": ["ready"], "max": 1}
    yield "POST", "/v1/claim", {"queues": ["grouped"], "max": 1}


def measure(server, method, path, body):
    """Return the sorted times of a call in seconds."""
    took = []
    for _ in range(ROUNDS):
        began = time.monotonic()
        answer = server.ask(method, path, body)
        took.append(time.monotonic() - began)
        assert answer.status < 400, (path, answer)
    return sorted(took)


def first_view(server):
    """Return the median time of the dashboard's first view in ms."""
    return float(subprocess.run(
        ["node", FIRST_VIEW, f"http://{server.host}:{server.port}/"], check=True, text=True,
        stdout=subprocess.PIPE).stdout)


def main():
    number = bad = 0

    def case(name, good, figure):
        nonlocal number, bad
        number += 1
        bad += not good
        print(f"# {figure}: {name}")
        print(f"{'' if good else 'not '}ok {number} - {name}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        began = time.monotonic()
        fill(server)
        print(f"# {JOBS} jobs were made in {time.monotonic() - began:.0f} s", flush=True)
        for method, path, body in list(calls(server)):
            took = measure(server, method, path, body)
            p99 = took[len(took) * 99 // 100 - 1] if LONG else took[-1]
            case(f"{method} {path[:60]}", p99 < MOST_S, f"p99 {p99 * 1000:.1f} ms")
        if LONG:
            ms = first_view(server)
            case("the first view of the dashboard", ms < FIRST_VIEW_MS, f"{ms:.0f} ms")
        server.stop()
    print(f"1..{number}")
    sys.exit(bad > 0)


main()
