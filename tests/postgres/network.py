#!/usr/bin/python3
"""Test the command line on a connection to PostgreSQL that is cut, goes silent, is
slow, or loses a reply. A proxy simulates these faults. The test starts its own server.

  network.py READPAST ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import concurrent.futures
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

from server import pg_temp

READPAST = pathlib.Path(sys.argv[1]).resolve()
SUITE = []


def case(function):
    SUITE.append(function)
    return function


# ---- the proxy ----

class Line:
    """A proxy in front of the server's socket. Tests change these members at any time:
    `delay` is the number of seconds by which data is delayed. If `silent` is true, the
    proxy passes on nothing. If `deaf` is true, it drops the server's notifications and
    passes on everything else. `hold` makes the proxy silent at a call."""

    def __init__(self, server):
        self.server = server
        self.delay = 0
        self.silent = self.deaf = self.closed = False
        self.loses = self.holds = self.victim = None
        self.lost = threading.Event()
        self.held = threading.Event()
        self.answered = threading.Event()
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            if self.closed:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            pair = (client, server)
            self.pairs.append(pair)
            for upward in True, False:
                threading.Thread(target=self.pump, args=(pair, upward),
                                 daemon=True).start()

    def lose(self, verb, heard=True):
        """Close the connection at the next call of a verb, an operation such as
        `claim`. If `heard`, the connection is closed when the server has replied, and
        the reply is lost. Otherwise it is closed before the server gets the call."""
        self.lost.clear()
        self.loses = call_of(verb), heard

    def lose_statement(self, text):
        """Close the connection when the server has replied to a statement that has
        this text, and lose the reply."""
        self.lost.clear()
        self.loses = re.compile(text), True

    def hold(self, verb):
        """Go silent at the next call of a verb. The server gets the call, and its
        reply comes as soon as `silent` is false. `held` is set before the server gets the
        call, and `answered` when its reply is here."""
        self.held.clear()
        self.answered.clear()
        self.holds = call_of(verb)

    def pump(self, pair, upward):
        source, sink = pair if upward else reversed(pair)
        rest = b""
        try:
            while data := source.recv(65536):
                time.sleep(self.delay)
                while self.silent:
                    if not upward:
                        self.answered.set()
                    time.sleep(0.01)
                if upward and self.loses and self.loses[0].search(data):
                    self.take(pair, data)
                    return
                if upward and self.holds and self.holds.search(data):
                    self.holds, self.silent = None, True
                    self.held.set()
                    sink.sendall(data)
                    continue
                if pair is self.victim:
                    self.lost.set()
                    return
                if not upward and self.deaf:
                    data, rest = without_notices(rest + data)
                sink.sendall(data)
        except OSError:
            pass
        hang_up(pair)

    def take(self, pair, data):
        (_, heard), self.loses = self.loses, None
        if heard:
            self.victim = pair
            pair[1].sendall(data)
            self.lost.wait(60)
        else:
            self.lost.set()
        hang_up(pair)

    def cut(self):
        for pair in self.pairs:
            hang_up(pair)
        self.pairs.clear()


def call_of(verb):
    """Return a pattern that finds a call of the verb in a client's data."""
    return re.compile(b"B....\0readpast_" + verb.encode() + b"[a-z_]*\0",
                      re.DOTALL)


def hang_up(pair):
    for end in pair:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def without_notices(data):
    """Split the data into messages. Returns all complete messages except
    notifications, and the incomplete rest of the data."""
    kept = b""
    while len(data) >= 5:
        size = 1 + int.from_bytes(data[1:5], "big")
        if len(data) < size:
            break
        if data[:1] != b"A":
            kept += data[:size]
        data = data[size:]
    return kept, data


# ---- the command line behind the proxy ----

class Client:
    """Commands on a database of their own, which they reach directly or through the
    proxy."""

    def __init__(self, name):
        query(f"create database {name}")
        self.direct = f"postgres:///{name}?host={SERVER}&user=postgres"
        self.line = Line(f"{SERVER}/.s.PGSQL.5432")
        self.url = (f"postgres://postgres@127.0.0.1:{self.line.port}/{name}"
                    "?connect_timeout=2")
        self.folder = pathlib.Path(FOLDER) / name
        self.folder.mkdir()
        self.history = self.folder / "history"
        self.workers = []
        self("init", direct=True)

    def start(self, *args, direct=False, **more):
        return subprocess.Popen(
            [READPAST, "--db", self.direct if direct else self.url,
             "--history", self.history, *map(str, args)],
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **more)

    def __call__(self, *args, direct=False):
        """Run the command, which must succeed. Returns its output."""
        process = self.start(*args, direct=direct)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 0, (args, process.returncode, err)
        return out

    def fails(self, status, words, *args):
        """Run the command, which must exit with this status and print one line of errors
        that matches the regular expression `words`."""
        process = self.start(*args)
        out, err = process.communicate(timeout=30)
        assert process.returncode == status, (process.returncode, err)
        assert re.fullmatch(f"readpast: .*{words}.*\n", err), err
        return out

    def work(self, *options):
        worker = self.start("work", "q", *options, "--", "true")
        self.workers.append(worker)
        return worker

    def stop(self, loses=False):
        """Stop the workers, which must end normally. Returns what they printed. loses:
        true if a worker may have lost leases."""
        normal = re.compile("serving |readpast: (created queue|waiting for) "
                            + ("|readpast: job [0-9]+ (lost its lease|is no longer ours)"
                               if loses else ""))
        said = ""
        for worker in self.workers:
            worker.terminate()
            out, err = worker.communicate(timeout=30)
            assert worker.returncode == 0, (worker.returncode, err)
            assert all(line.endswith("; trying again") or normal.match(line)
                       for line in err.splitlines()), err
            said += out
        self.workers.clear()
        return said

    def stats(self):
        return json.loads(self("stats", "q", "--json", direct=True))

    def left(self):
        stats = self.stats()
        return sum(stats[state] for state in
                   ("ready", "running", "scheduled", "dead"))

    def done(self):
        return not self.left()

    def claim(self):
        job = json.loads(self("claim", "q", direct=True))
        return job["claim"]

    def agrees(self):
        said = self("check", self.history, "--left", "q", direct=True)
        assert said.endswith("P1 ok, P2 ok, P3 ok, P6 ok\n"), said


def eventually(seconds, what):
    """Wait until what() is true. Returns the seconds that it took."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() < began + seconds, "it did not come"
        time.sleep(0.02)
    return time.monotonic() - began


# ---- lost replies ----

UNKNOWN = "outcome unknown"


@case
def an_enqueue_whose_answer_is_lost_is_unknown_and_was_done(c):
    c("queue", "set", "q")
    c.line.lose("enqueue")
    c.fails(1, UNKNOWN, "enqueue", "q", "x")
    assert c.line.lost.is_set() and c.stats()["ready"] == 1
    c.line.lose("enqueue")
    c.fails(1, UNKNOWN, "enqueue", "q", "x", "y", "z")
    assert c.line.lost.is_set() and c.stats()["ready"] == 4


@case
def an_enqueue_that_never_reached_the_server_is_unknown_and_was_not_done(c):
    c("queue", "set", "q")
    c.line.lose("enqueue", heard=False)
    c.fails(1, UNKNOWN, "enqueue", "q", "x")
    assert c.line.lost.is_set() and c.stats()["ready"] == 0


@case
def an_enqueue_whose_connection_breaks_while_it_is_made_has_a_known_outcome(c):
    c("queue", "set", "q")
    for text in b"pg_backend_pid", b"meta":
        c.line.lose_statement(text)
        c.fails(1, "connection lost: ", "enqueue", "q", "x")
        assert c.line.lost.is_set()
    assert c.stats()["ready"] == 0


@case
def an_enqueue_with_a_unique_key_is_repeated_and_there_is_one_job(c):
    c("queue", "set", "q")
    for heard in True, False:
        key = f"k{heard}"
        c.line.lose("enqueue", heard=heard)
        c.fails(1, UNKNOWN, "enqueue", "q", "x", "--unique", key)
        assert c.line.lost.is_set()
        job = c("enqueue", "q", "x", "--unique", key)
        assert c("enqueue", "q", "x", "--unique", key) == job
    assert c.stats()["ready"] == 2


@case
def a_verdict_whose_answer_is_lost_is_refused_when_it_is_repeated(c):
    c("enqueue", "q", "x", "y", direct=True)
    first, second = c.claim(), c.claim()
    c.line.lose("settle_and_claim")
    c.fails(1, UNKNOWN, "complete", first)
    c.fails(4, "no longer", "complete", first)
    c.line.lose("settle_and_claim", heard=False)
    c.fails(1, UNKNOWN, "complete", second)
    c("complete", second)
    assert c.done()


@case
def a_worker_repeats_lost_verdicts_and_counts_each_job_once(c):
    c("enqueue", "q", *range(40))
    c.work()
    for _ in range(4):
        c.line.lose("settle_and_claim")
        c("enqueue", "q", *range(5), direct=True)
        assert c.line.lost.wait(60)
    eventually(30, c.done)
    said = c.stop()
    assert said.startswith("60 done, 0 failed, 0 dead, "), said
    c.agrees()


@case
def a_lost_verdict_on_a_job_that_was_locked_is_known_to_be_repeated(c):
    c("enqueue", "q", "x", direct=True)
    gate = c.folder / "gate"
    os.mkfifo(gate)
    c.workers.append(c.start("work", "q", "--max-jobs", 1, "--", "cat", gate))
    eventually(30, lambda: c.stats()["running"])
    locker = subprocess.Popen(["psql", "-qAtX", c.direct], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    locker.stdin.write("begin; select id from readpast.job for update;\n")
    locker.stdin.flush()
    assert locker.stdout.readline() == "1\n"
    c.line.hold("locked_jobs")
    gate.write_text("")
    assert c.line.held.wait(60)
    found = ("select count(*) from pg_stat_activity where state = 'idle in transaction' "
             "and query ~ 'skip locked'")
    eventually(30, lambda: query(found, c.direct) == "1")
    locker.communicate("rollback;\n", timeout=10)
    c.line.hold("locked_jobs")
    c.line.silent = False
    assert c.line.held.wait(60)
    c.line.lose_statement(b"commit")
    c.line.silent = False
    assert c.line.lost.wait(60)
    eventually(30, c.done)
    said = c.stop()
    assert said.startswith("1 done, 0 failed, 0 dead, "), said
    c.agrees()


@case
def a_claim_whose_answer_is_lost_leaves_no_job_behind(c):
    c("queue", "set", "q", "--lease", "1h")
    c.work("-j", 4)
    eventually(30, lambda: c.stats()["workers"])
    c.line.lose("settle_and_claim")
    c("enqueue", "q", *range(20), direct=True)
    assert c.line.lost.wait(60)
    took = eventually(30, c.done)
    assert took < 5, took
    assert c.stop().startswith("20 done, 0 failed"), "another way"
    c.agrees()


@case
def a_job_that_a_lost_call_has_released_and_claimed_again_runs_again(c):
    c("queue", "set", "q", "--lease", "1h")
    c("enqueue", "q", "x", direct=True)
    for name in "end", "gate":
        os.mkfifo(c.folder / name)
    c.workers.append(c.start(
        "work", "q", "--release-delay", "0s", "--", "sh", "-c",
        "[ ! -e ran ] || exit 0; touch ran; exec 3>end; read x <gate; exit 75",
        cwd=c.folder))
    # The handler ends during a probe that fails. Then the worker settles, and probes
    # again. So when it reads which jobs it holds, it is connected and has the verdict.
    with (c.folder / "end").open() as end:
        c.line.hold("probe")
        assert c.line.held.wait(60)
        (c.folder / "gate").write_text("\n")
        end.read()
    c.line.lose("settle_and_claim")
    c.line.cut()
    c.line.silent = False
    assert c.line.lost.wait(60)
    eventually(30, c.done)
    c.stop(loses=True)
    c.agrees()


@case
def a_worker_that_cannot_register_again_releases_no_job_of_others(c):
    c("enqueue", "q", "x", direct=True)
    claim = c.claim()
    c.work()
    eventually(30, lambda: c.stats()["workers"])
    c.line.lose("worker_start")
    query("delete from readpast.worker", c.direct)
    assert c.line.lost.wait(60)
    # The worker has reconnected, and read which jobs it holds, when it has done a job.
    c("enqueue", "q", "y", direct=True)
    eventually(30, lambda: c.stats()["ready"] == 0)
    c("complete", claim, direct=True)
    eventually(30, c.done)
    assert c.stop().startswith("1 done, 0 failed"), "another way"
    c.agrees()


@case
def a_claim_whose_answer_is_lost_with_the_row_of_the_worker_leaves_no_job_behind(c):
    c("queue", "set", "q", "--lease", "1h")
    c.work()
    eventually(30, lambda: c.stats()["workers"])
    c.line.hold("settle_and_claim")
    c("enqueue", "q", "x", direct=True)
    assert c.line.answered.wait(60)
    # When the connection breaks, the next heartbeat is due, and comes first.
    due = "select clock_timestamp() > seen_at + '10.5 s' from readpast.worker"
    eventually(30, lambda: query(due, c.direct) == "t")
    query("delete from readpast.worker", c.direct)
    c.line.cut()
    c.line.silent = False
    eventually(30, c.done)
    eventually(30, lambda: c.stats()["workers"])
    assert c.stop().startswith("1 done, 0 failed"), "another way"
    c.agrees()


@case
def a_worker_starts_no_prefetched_job_that_it_lost_before_the_answer(c):
    c("enqueue", "q", *range(30), direct=True)
    started = c.folder / "started"
    c.workers.append(c.start("work", "q", "--lease", "1s", "--", "sh", "-c",
                             f"echo >>{started}"))
    eventually(30, c.done)
    # Now the worker knows that its jobs are short, and prefetches some. On a busy machine
    # it may take some more jobs until they are short.
    for _ in range(20):
        before = started.read_text().count("\n")
        c.line.hold("settle_and_claim")
        c("enqueue", "q", *range(30), direct=True)
        assert c.line.answered.wait(60)
        if c.stats()["running"] > 1:
            break
        c.line.silent = False
        eventually(30, c.done)
    else:
        raise AssertionError("it prefetches no job")
    c("work", "q", "--drain", "--", "true", direct=True)
    c.line.silent = False
    c("enqueue", "q", "last", direct=True)
    eventually(30, c.done)
    c.stop(loses=True)
    # Of the lost jobs, it starts at most the one for which a handler was free.
    count = started.read_text().count("\n")
    assert count <= before + 1 + 1, (before, count)


# ---- workers that end ----

@case
def a_worker_drains_although_a_call_has_failed(c):
    c("enqueue", "q", "x", direct=True)
    claim = c.claim()
    worker = c.work("--drain")
    eventually(30, lambda: c.stats()["workers"])
    c.line.lose("probe")
    assert c.line.lost.wait(60)
    # The worker has gone on when it has reconnected and waits again.
    query("delete from readpast.waiter", c.direct)
    asleep = "select count(*) from readpast.waiter"
    eventually(30, lambda: query(asleep, c.direct) == "1")
    c("complete", claim, direct=True)
    assert worker.wait(60) == 0


def run_two(c):
    """Start a worker that runs two jobs. Returns it, and for each job the file for which
    its handler waits."""
    gates = [c.folder / name for name in ("a", "b")]
    for gate in gates:
        os.mkfifo(gate)
    c("enqueue", "q", *gates, direct=True)
    worker = c.start("work", "q", "-j", 2, "--lease", "3s", "--", "cat", "{}")
    c.workers.append(worker)
    eventually(30, lambda: c.stats()["running"] == 2)
    return worker, *gates


def ask_to_stop(worker):
    worker.terminate()
    assert any("waiting for" in line for line in worker.stderr), "it has ended"


@case
def a_stopping_worker_repeats_a_verdict_whatever_failed_before(c):
    worker, a, b = run_two(c)
    for _ in range(6):
        c.line.lose("settle_and_claim")
        assert c.line.lost.wait(60)
        renewed = ("select min(lease_until) > "
                   f"'{query('select max(lease_until) from readpast.job', c.direct)}' "
                   "from readpast.job")
        eventually(30, lambda: query(renewed, c.direct) == "t")
    ask_to_stop(worker)
    c.line.lose("settle_and_claim", heard=False)
    a.write_text("")
    assert c.line.lost.wait(60)
    b.write_text("")
    out, err = worker.communicate(timeout=30)
    assert worker.returncode == 0 and out.startswith("2 done, "), (out, err)
    c.agrees()


@case
def a_stopping_worker_whose_verdicts_fail_ends_although_renewals_succeed(c):
    worker, a, b = run_two(c)
    query("create function refuse() returns trigger language plpgsql as "
          "$$ begin raise exception 'refused'; end $$;"
          "create trigger refuse before delete on readpast.job "
          "for each row execute function refuse()", c.direct)
    ask_to_stop(worker)
    a.write_text("")
    # The worker has ended, and renews no lease, but waits for the other handler.
    over = "select max(lease_until) < clock_timestamp() from readpast.job"
    eventually(30, lambda: query(over, c.direct) == "t")
    b.write_text("")
    err = worker.communicate(timeout=30)[1]
    assert worker.returncode == 1 and "\nreadpast: refused\n" in err, err


# ---- a connection that is cut, silent, without notifications, or slow ----

@case
def a_connection_that_is_cut_all_the_time_loses_no_job(c):
    c("queue", "set", "q", "--backoff", "0s", "--max-attempts", 1000)
    c("enqueue", "q", *range(3000), direct=True)
    for _ in range(3):
        c.work("-j", 2, "--lease", "2s")
    eventually(30, lambda: c.stats()["workers"] == 3)
    cuts = 0
    while c.left():
        c.line.cut()
        cuts += 1
        # Cut again when the workers have reconnected and done jobs.
        left = c.left()
        eventually(30, lambda: c.left() < left or left == 0)
    assert cuts > 2, cuts
    c.stop()
    c.agrees()


@case
def a_silent_connection_ends_and_work_goes_on(c):
    c.work("-j", 2, "--lease", "1s")
    c("enqueue", "q", *range(3), direct=True)
    eventually(30, c.done)
    c.line.silent = True
    c("enqueue", "q", *range(3), direct=True)
    time.sleep(1.5)
    assert c.left() == 3
    c.fails(1, "timeout expired", "stats")
    # Lose the data that the proxy holds back, as if a router had dropped the
    # connection.
    c.line.cut()
    c.line.silent = False
    took = eventually(30, c.done)
    assert took < 3, took
    c.stop()
    c.agrees()


@case
def a_worker_without_notifications_polls_once_a_second(c):
    c.work()
    c("enqueue", "q", "x", direct=True)
    eventually(30, c.done)
    asleep = "select count(*) from readpast.waiter"
    eventually(30, lambda: query(asleep, c.direct) == "1")
    c.line.deaf = True
    for _ in range(3):
        c("enqueue", "q", "x", direct=True)
        took = eventually(30, c.done)
        assert took < 3, took
    c.stop()


@case
def a_slow_connection_causes_no_error(c):
    c.line.delay = 0.03
    c("enqueue", "q", *range(200))
    c.work("-j", 4, "--lease", "1s")
    eventually(30, c.done)
    assert c.stop().startswith("200 done, 0 failed, 0 dead")
    c.agrees()


@case
def a_missing_server_is_an_error_of_one_line(c):
    c.line.closed = True
    c.fails(1, "server closed the connection", "stats")
    c.fails(1, "server closed the connection", "enqueue", "q", "x")
    c.line.closed = False
    c("enqueue", "q", "x")


@case
def a_server_whose_database_is_away_still_answers_with_its_own_metrics(c):
    server = c.start("serve", "--listen", "127.0.0.1:0")
    c.workers.append(server)
    url = server.stdout.readline().split()[2] + "metrics"

    def metrics():
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.read().decode()
    there = metrics()
    assert "\nreadpast_database_up 1\n" in there and "\nreadpast_info{" in there, there
    c.line.closed = True
    c.line.cut()
    away = metrics()
    assert "\nreadpast_database_up 0\n" in away and "readpast_info" not in away, away
    assert '\nreadpast_http_requests_total{code="2xx"} 1\n' in away, away
    c.line.closed = False
    eventually(30, lambda: "\nreadpast_database_up 1\n" in metrics())


@case
def requests_do_not_wait_for_each_client_of_a_server_whose_database_is_silent(c):
    server = c.start("serve", "--listen", "127.0.0.1:0")
    c.workers.append(server)
    url = server.stdout.readline().split()[2] + "v1/"

    def post(path, **body):
        request = urllib.request.Request(url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def fails(path, **body):
        """Returns how many seconds it took."""
        began = time.monotonic()
        try:
            raise AssertionError(post(path, **body))
        except urllib.error.HTTPError as error:
            assert error.code in (502, 503), error.read()
        return time.monotonic() - began
    verdicts = []
    post("queues/q/jobs", jobs=[{"payload": "x"}] * 40)
    for i in range(20):
        jobs = post("claim", queues=["q"], max=2, worker=f"w{i}", lease="1h")["jobs"]
        first, second = ([{"claim": job["claim"], "verdict": "done"}] for job in jobs)
        post("verdicts", verdicts=first)
        verdicts.append(second)
    c.line.silent = True
    c.line.cut()
    # A request waits for 2 s for each connection. After 5 s the heartbeats are due.
    end = time.monotonic() + 6
    while time.monotonic() < end:
        took = fails("queues/q/jobs", payload="x")
        assert took < 15, took
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        took = max(pool.map(lambda v: fails("verdicts", verdicts=v), verdicts))
    assert took < 30, took
    c.line.cut()
    c.line.silent = False
    counts = ("select count(*), sum(done) from readpast.worker "
              "where name ~ '^w'")
    eventually(30, lambda: query(counts, c.direct) == "20|20")


# ---- the server ----

def query(sql, url=None):
    url = url or f"postgres:///postgres?host={SERVER}&user=postgres"
    return subprocess.run(["psql", "-qAtX", url, "-c", sql], check=True,
                          capture_output=True, text=True).stdout.strip()


def run(function, number):
    client = None
    try:
        client = Client(f"case_{number}")
        function(client)
        return True
    except Exception:
        print("# " + traceback.format_exc().replace("\n", "\n# "))
        return False
    finally:
        for worker in client.workers if client else ():
            worker.kill()


def main():
    wanted = sys.argv[3:]
    failed = 0
    os.environ.pop("READPAST_DB", None)
    pg_temp("start", SERVER, "max_connections=50")
    try:
        for number, function in enumerate(SUITE, 1):
            if wanted and function.__name__ not in wanted:
                continue
            began = time.monotonic()
            good = run(function, number)
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - "
                  f"{function.__name__}", flush=True)
            print(f"# {time.monotonic() - began:.1f} s", flush=True)
    finally:
        pg_temp("stop", SERVER, "immediate")
    print(f"1..{len(SUITE)}")
    return failed > 0


with tempfile.TemporaryDirectory() as FOLDER:
    pathlib.Path(FOLDER).chmod(0o755)
    SERVER = str(pathlib.Path(FOLDER) / "server")
    status = main()
sys.exit(status)
