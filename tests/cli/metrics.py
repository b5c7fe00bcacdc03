#!/usr/bin/env python3
"""Test metrics in the text format of Prometheus: those of `readpast metrics`, of a worker
(`work --metrics`), and of the server.

  metrics.py READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

from tap import READPAST, check, run

PROMTOOL = shutil.which("promtool")  # .ci/run installs it
NAME = r"[a-z][a-z0-9_]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:{NAME}="(?:[^"\\\n]|\\["\\n])*",?)*)\}})? (\S+)')


def advice(text):
    """Return the lines that `promtool check metrics` prints, if it is installed."""
    if not PROMTOOL:
        return []
    return subprocess.run([PROMTOOL, "check", "metrics"], input=text, text=True,
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout.splitlines()


def faults(text):
    """Return the lines that break the rules of the text format, or the advice that
    `promtool check metrics` gives."""
    found, types, seen, done = [], {}, {}, set()
    current = None
    if not text.endswith("\n"):
        found.append("the last line does not end")
    for line in text.splitlines():
        word = line.split(" ")
        if line.startswith("# HELP "):
            if not line.split(" ", 3)[3].strip():
                found.append(line)
            current = word[2]
            if current in done:
                found.append(f"twice: {line}")
            done.add(current)
            continue
        if line.startswith("# TYPE "):
            types[word[2]] = word[3]
            if word[2] != current or (word[3] == "counter") != current.endswith("_total"):
                found.append(line)
            continue
        sample = SAMPLE.fullmatch(line)
        if not sample or not current or not sample[1].startswith(current):
            found.append(line)
            continue
        if (sample[1], sample[2]) in seen:
            found.append(f"twice: {line}")
        seen[sample[1], sample[2]] = float(sample[3])
    for name, kind in types.items():
        if kind != "histogram":
            continue
        counts = [n for (metric, _), n in seen.items() if metric == name + "_bucket"]
        if counts != sorted(counts) or counts[-1] != seen[name + "_count", None]:
            found.append(f"{name}: {counts}")
        if (name + "_sum", None) not in seen:
            found.append(f"{name} has no sum")
    return found, seen


def readpast(*arguments):
    return subprocess.run([READPAST, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def ask(port, path="/metrics", method="GET", body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, {"Connection": "close"})
    answer = connection.getresponse()
    found = answer.status, answer.headers["Content-Type"], answer.read().decode()
    connection.close()
    return found


def post(port, path, body):
    return json.loads(ask(port, path, "POST", json.dumps(body))[2])


def test_database():
    readpast("enqueue", 'na"me\\x', "a", "b")
    readpast("enqueue", "mail", "a", "--delay", "1h")
    text = readpast("metrics")
    wrong, seen = faults(text)
    wrong += advice(text)
    check("the metrics of a database are valid", not wrong, wrong)
    for labels, n in (('queue="na\\"me\\\\x",state="ready"', 2),
                      ('queue="mail",state="scheduled"', 1)):
        check(f"{labels} is {n}", seen.get(("readpast_queue_jobs", labels)) == n, seen)
    check("findings are counted by level",
          sum(name == "readpast_findings" for name, _ in seen) >= 3, seen)
    ran = subprocess.run([READPAST, "--db", "sqlite:none.db", "metrics"], text=True,
                         capture_output=True)
    check("without a database nothing is printed", ran.returncode and not ran.stdout, ran)


def start_worker(*options):
    worker = subprocess.Popen(
        [READPAST, "work", "w", "-j", "2", "--metrics", "127.0.0.1:0", *options, "--", "sh",
         "-c", 'case $0 in fail) exit 1;; dead) exit 65;; slow) sleep 0.2;; esac', "{}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in worker.stderr:
        found = re.search(r"metrics at http://127\.0\.0\.1:(\d+)/metrics", line)
        if found:
            return worker, int(found[1])
    raise AssertionError("no metrics")


def test_worker():
    worker, port = start_worker()
    readpast("enqueue", "w", "ok", "ok", "slow", "fail", "dead", "--backoff", "1h")
    end = time.monotonic() + 30
    while time.monotonic() < end:
        status, kind, text = ask(port)
        wrong, seen = faults(text)
        if seen["readpast_worker_run_seconds_count", None] == 5:
            break
        time.sleep(0.05)
    check("a worker answers with the content type of Prometheus",
          (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8"), (status, kind))
    wrong += advice(text)
    check("the metrics of a worker are valid", not wrong, wrong)
    ends = {end: seen["readpast_worker_jobs_total", f'end="{end}"']
            for end in ("done", "failed", "dead", "released")}
    check("attempts are counted by their end",
          ends == {"done": 3, "failed": 1, "dead": 1, "released": 0}, ends)
    check("a slow handler is in the sum and in a high bucket",
          seen["readpast_worker_run_seconds_sum", None] >= 0.2
          and seen["readpast_worker_run_seconds_bucket", 'le="0.1"'] < 5, text)
    check("the time from ready to the claim is counted for each start",
          seen["readpast_worker_start_delay_seconds_count", None] == 5, text)
    check("the target may be a whole URL",
          ask(port, f"http://127.0.0.1:{port}/metrics")[0] == 200)
    idle = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(40)]
    check("idle connections do no harm", ask(port)[0] == 200)
    for s in idle:
        s.close()
    check("another path is not found", ask(port, "/")[0] == 404)
    check("another method is refused", ask(port, method="POST")[0] == 405)
    with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
        s.sendall(b"\0\1\2\r\n\r\n")
    check("noise does no harm", ask(port)[0] == 200)
    address = f"127.0.0.1:{port}"
    second = subprocess.run([READPAST, "work", "w", "--drain", "--metrics", address, "--",
                             "true"], text=True, capture_output=True)
    check("a second worker cannot have the same address",
          second.returncode == 1 and f"{address}: Address already in use" in second.stderr,
          second)
    worker.send_signal(signal.SIGTERM)
    check("the worker ends as usual", worker.wait(20) == 0)
    worker, again = start_worker("--metrics", address)
    check("another worker can have its address at once", ask(again)[0] == 200)
    worker.send_signal(signal.SIGTERM)
    worker.wait(20)
    return wrong, seen


def test_address():
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        for address, status in ((f"127.0.0.1:{port}", 1), ("8080", 2), ("127.0.0.1:x", 2)):
            ran = subprocess.run([READPAST, "work", "w", "--drain", "--metrics", address,
                                  "--", "true"], text=True, capture_output=True)
            check(f"--metrics {re.sub(port.__str__(), 'BUSY', address)} is refused",
                  ran.returncode == status and address in ran.stderr, ran)
            if status == 1:
                check("then the worker does not print what it serves",
                      "serving" not in ran.stderr, ran)


def settle(port, *verdicts):
    """Give each verdict on a job of its own over HTTP, and once more, which is refused
    unless it is an extension.
    The first two jobs have many attempts, the others have one."""
    readpast("enqueue", "http", "--max-attempts", "9", "one", "two")
    readpast("enqueue", "http", "--max-attempts", "1", *verdicts[2:])
    jobs = post(port, "/v1/claim", {"queues": ["http"], "max": len(verdicts)})["jobs"]
    body = {"verdicts": [{"claim": job["claim"], "verdict": verdict}
                         for job, verdict in zip(jobs, verdicts)]}
    for _ in range(2):
        post(port, "/v1/verdicts", body)


def test_server():
    server = subprocess.Popen([READPAST, "serve", "--listen", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, text=True)
    port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
    ask(port, "/none")
    settle(port, "done", "fail", "fail", "dead", "release", "extend")
    with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
        s.sendall(b"POST /v1/claim HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                  b"Content-Length: 9\r\n\r\n1" % port)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        _, kind, text = ask(port)
        wrong, seen = faults(text)
        if seen["readpast_http_connections", None] == 1:
            break
        time.sleep(0.05)
    counts = [sum(n for (name, _), n in seen.items() if name == f"readpast_http_{what}")
              for what in ("requests_total", "request_duration_seconds_count")]
    check("a request without an answer is not counted", counts[0] == counts[1], counts)
    wrong += advice(text)
    check("the metrics of the server are valid", not wrong and "0.0.4" in kind, wrong)
    check("requests are counted by status",
          seen["readpast_http_requests_total", 'code="4xx"'] == 1, text)
    verdicts = {verdict: seen.get(("readpast_http_verdicts_total", f'verdict="{verdict}"'))
                for verdict in ("done", "fail", "dead", "release", "extend")}
    check("verdicts are counted, the last failure of a job as dead, refused ones not",
          verdicts == {"done": 1, "fail": 1, "dead": 2, "release": 1, "extend": 2}, text)
    jobs = {what: seen["readpast_http_jobs_total", f'what="{what}"']
            for what in ("claimed", "settled", "refused")}
    check("jobs are counted by what was done with them, and an extension settles no job",
          jobs == {"claimed": 6, "settled": 5, "refused": 5}, text)
    check("the database's metrics are there, too",
          ("readpast_queue_jobs", 'queue="mail",state="scheduled"') in seen
          and seen["readpast_database_up", None] == 1, text)
    server.send_signal(signal.SIGTERM)
    check("the server ends as usual", server.wait(20) == 0)
    server.stdout.close()
    return wrong, seen


def test_page(texts):
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/http.md"
    described = set(re.findall(r"`(readpast_\w+)`", page.read_text()))
    known = {re.sub(r"_(bucket|sum|count)$", "", name) for _, seen in texts
             for name, _ in seen}
    check("docs/http.md describes all metrics and no other", described == known,
          described ^ known)


def test_rules(texts):
    """Each metric and each value of a label that the alert rules name must exist."""
    rules = pathlib.Path(__file__).resolve().parents[2] / "contrib/prometheus-rules.yml"
    text = rules.read_text()
    known = {re.sub(r"_(bucket|sum|count)$", "", name) for _, seen in texts
             for name, _ in seen} | {name for _, seen in texts for name, _ in seen}
    named = set(re.findall(r"\breadpast_\w+", text))
    check("the alert rules name only metrics that exist", named and named <= known,
          named - known)
    labels = {label for _, seen in texts for _, all in seen if all
              for label in re.findall(r'\w+="[^"]*"', all)}
    used = set(re.findall(r'\{(\w+="[^"]*")\}', text))
    check("the alert rules name only values of labels that exist",
          used and used <= labels, used - labels)
    alerts = re.findall(r"- alert: (\w+)", text)
    check("each alert has a name of its own, and says what helps",
          len(alerts) == len(set(alerts)) == text.count("description:"), alerts)
    if PROMTOOL:
        test_alerts(rules)


def queue(instance, **values):
    """Return the series of a queue, in the form that `promtool test rules` reads. The value
    of a metric is a number, or a series such as `0+1x30`."""
    values = {"ready": 3, "running": 0, "paused": 0, "workers": 1, "done_per_second": 0,
              "failed_per_second": 0, "oldest_ready_seconds": 0, **values}
    named = {"ready": 'jobs{state="ready",', "running": 'jobs{state="running",'}
    return [{"series": f"readpast_queue_{named.get(name, name + '{')}"
                       f'queue="mail",instance="{instance}"}}',
             "values": value if isinstance(value, str) else f"{value}+0x80"}
            for name, value in values.items()]


def requests(**rates):
    """Return the series of the requests of a server, by the class of their status."""
    return [{"series": f'readpast_http_requests_total{{code="{code[1:]}",instance="a"}}',
             "values": f"0+{rate}x80"} for code, rate in rates.items()]


def test_alerts(rules):
    """Each case names the series, and the alerts that fire after 70 minutes, each with the
    instance that it is about."""
    waits, works = {"oldest_ready_seconds": 400}, {"oldest_ready_seconds": 1}
    away = [{"series": 'readpast_database_up{instance="a"}', "values": "0+0x80"}]
    cases = {
        "nothing fires for a queue that is served":
            (queue("a") + requests(_2xx=100, _5xx=1), []),
        "a server that cannot read its database, which is not the lack of all metrics":
            (away, [("DatabaseAway", "a")]),
        "errors of a server": (requests(_2xx=90, _5xx=10), [("ServerErrors", "a")]),
        "jobs that wait, and not those of the same queue of another database":
            (queue("a", **waits) + queue("b", ready=0, **waits), [("JobsWait", "a")]),
        "jobs that wait while the same queue of another database is paused":
            (queue("a", **waits) + queue("b", paused=1, ready=0), [("JobsWait", "a")]),
        "a pause of a queue with ready jobs":
            (queue("a", paused=1, ready=0) + queue("b", paused=1), [("Paused", "b")]),
        "a queue without workers":
            (queue("a", workers=0) + queue("b", ready=0, workers=0), [("NoWorkers", "a")]),
        "a queue without workers while the same queue of another database works":
            (queue("a", workers=0) + queue("b", running=1, done_per_second=1),
             [("NoWorkers", "a")]),
        "clients without a name count as workers while a job runs":
            (queue("a", workers=0, running=1, **works), []),
        "clients without a name count as workers if a job was done in the last minutes":
            (queue("a", workers=0, done_per_second="0 0 0.1 0 " * 20), []),
        "clients without a name count as workers if an attempt failed in the last minutes":
            (queue("a", workers=0, failed_per_second="0.1 0 0 0 " * 20), []),
        "jobs that die":
            (queue("a", dead_total="0+1x80") + queue("b", dead_total="0+0.5x80"),
             [("JobsDie", "a")]),
    }
    tests = [{"name": name, "interval": "1m",
              "input_series": series if series is away else [
                  {"series": "readpast_info", "values": "1+0x80"}, *series],
              "promql_expr_test": [{
                  "eval_time": "70m",
                  "expr": 'count by (alertname, instance) (ALERTS{alertstate="firing"})',
                  "exp_samples": [{"labels": f'{{alertname="Readpast{alert}",'
                                             f'instance="{instance}"}}', "value": 1}
                                  for alert, instance in alerts]}]}
             for name, (series, alerts) in cases.items()]
    for test in tests:
        pathlib.Path("alerts.json").write_text(
            json.dumps({"rule_files": [str(rules)], "tests": [test]}), encoding="utf-8")
        ran = subprocess.run([PROMTOOL, "test", "rules", "alerts.json"], text=True,
                             capture_output=True)
        check(f"alert rules: {test['name']}", ran.returncode == 0, ran.stdout + ran.stderr)


def main():
    os.environ["READPAST_DB"] = f"sqlite:{os.getcwd()}/metrics.db"
    readpast("init")
    test_database()
    texts = [test_worker()]
    test_address()
    texts.append(test_server())
    test_page(texts)
    test_rules(texts)


run(main)
