#!/usr/bin/python3
"""Test idle workers: how few statements they send, how soon they start a job, and what
happens if their notifications are lost or if they are killed. Starts its own server.

  idle.py READPAST ROOT

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import psycopg2

from server import manage, pg_temp

READPAST = pathlib.Path(sys.argv[1]).resolve()
IDLE = int(os.environ.get("IDLE", 60))
SUITE = []


def case(function):
    SUITE.append(function)
    return function


class Place:
    """A database, its workers, and the statements that the workers have sent."""

    def __init__(self, url, folder):
        self.url = url
        self.done = folder / "done"
        self.done.touch()
        self.db = psycopg2.connect(url)
        self.db.autocommit = True
        self.workers = []
        self.run("init")

    def run(self, *args):
        return subprocess.run([READPAST, "--db", self.url, *args], check=True,
                              capture_output=True, text=True).stdout.strip()

    def one(self, sql, *args):
        cursor = self.db.cursor()
        cursor.execute(sql, args)
        return cursor.fetchone()[0]

    def start(self, n, url=None):
        for _ in range(n):
            self.workers.append(subprocess.Popen(
                [READPAST, "--db", url or self.url, "work", "q", "--",
                 "sh", "-c", f"echo {{}} >>{self.done}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def asleep(self, n):
        """Wait until n workers are registered as waiters."""
        eventually(30, lambda: self.one(
            "select count(distinct worker_id) from readpast.waiter "
            "where until > clock_timestamp()") >= n)
        time.sleep(0.5)

    @staticmethod
    def queries():
        """Return the number of statements that the server has logged so far."""
        log = pathlib.Path(SERVER) / "server.log"
        return sum(" LOG:  statement: " in line or " LOG:  execute " in line
                   for line in log.open(errors="replace"))

    def lines(self):
        return len(self.done.read_text().splitlines())

    def started_in(self, n, seconds):
        """Wait until this many jobs are done. Returns how long it took."""
        began = time.monotonic()
        eventually(seconds, lambda: self.lines() >= n)
        return time.monotonic() - began

    def close(self):
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            worker.wait()
        self.db.close()


def eventually(seconds, what):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)


class Relay(threading.Thread):
    """A proxy to the server that passes everything on except notifications."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        self.dropped = 0
        self.start()

    def run(self):
        while True:
            client, _ = self.door.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.path)
            for way in (self.there, client, server), (self.back, server, client):
                threading.Thread(target=way[0], args=way[1:],
                                 daemon=True).start()

    @staticmethod
    def there(client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def back(self, server, client):
        stream = server.makefile("rb")
        with contextlib.suppress(OSError):
            while kind := stream.read(1):
                head = stream.read(4)
                rest = stream.read(struct.unpack("!I", head)[0] - 4)
                if kind == b"A":
                    self.dropped += 1
                else:
                    client.sendall(kind + head + rest)
        client.close()


@case
def idle_workers_send_few_statements_and_a_job_wakes_one_of_them(p):
    p.start(IDLE)
    p.asleep(IDLE)
    before, began = p.queries(), time.monotonic()
    time.sleep(11)
    rate = (p.queries() - before) / (time.monotonic() - began)
    print(f"# {IDLE} idle workers: {rate:.0f} queries/s")
    assert rate < 100, rate

    before = p.queries()
    p.one("select readpast.enqueue('q', 'x')")
    took = p.started_in(1, 2)
    time.sleep(1.5)
    asked = p.queries() - before
    print(f"# woken in {took * 1000:.0f} ms, {asked} queries")
    assert took < 0.9 and asked < 2 * rate + 40, (took, asked)
    assert p.lines() == 1


@case
def a_job_that_is_due_or_whose_lease_is_over_starts_within_a_second(p):
    p.start(8)
    p.asleep(8)
    p.one("select readpast.enqueue('q', 'x', delay => '1500 ms')")
    assert p.started_in(1, 5) < 3.5
    p.one("select readpast.enqueue('other', 'y', max_attempts => 9)")
    p.one("select readpast.enqueue('q', 'y')")
    p.started_in(2, 2)
    # A client claims the job, and ends without settling it.
    began = time.monotonic()
    with contextlib.closing(psycopg2.connect(p.url)) as dies:
        dies.autocommit = True
        cursor = dies.cursor()
        cursor.execute("begin; select readpast.enqueue('q', 'z');"
                       "select * from readpast.claim('q', lease => '1 s')")
        assert cursor.rowcount == 1
        cursor.execute("commit")
    p.started_in(3, 5)
    assert 1 < time.monotonic() - began < 3


def ready_again_after(p, lease):
    """Claim a job with this lease, and abandon it. No worker serves the job's queue.
    Returns a function that waits until the job is ready again, and returns the seconds
    since the claim."""
    with contextlib.closing(psycopg2.connect(p.url)) as dies:
        dies.autocommit = True
        dies.cursor().execute(
            "select readpast.queue_set('other', max_attempts => 99);"
            "select readpast.enqueue('other', 'x') where not exists "
            "(select 1 from readpast.jobs where queue = 'other')")
        eventually(3, lambda: p.one("select ready from readpast.probe('other')"))
        dies.cursor().execute(
            "select * from readpast.claim('other', lease => %s)", [lease])
    claimed = time.monotonic()

    def wait(seconds):
        eventually(seconds, lambda: p.one(
            "select state = 'ready' from readpast.jobs where queue = 'other'"))
        return time.monotonic() - claimed
    return wait


@case
def after_the_end_of_any_workers_another_sweeps_within_two_seconds(p):
    for name in "SIGTERM", "SIGSTOP", "SIGKILL":
        p.start(6)
        p.asleep(6)
        wait = ready_again_after(p, "1 s")
        ending, p.workers = p.workers[:-1], p.workers[-1:]
        for worker in ending:
            worker.send_signal(getattr(signal, name))
        took = wait(5)
        print(f"# {name}: ready {took:.2f} s after a claim for 1 s")
        for worker in ending:
            worker.kill()
            worker.wait()
        assert took < 3, (name, took)


@case
def killed_workers_leave_no_job_waiting(p):
    p.start(12)
    p.asleep(12)
    # A killed worker stays registered as a waiter. So the notification about a job may
    # go to a killed worker first.
    for worker in p.workers[:9]:
        worker.kill()
    for worker in p.workers[:9]:
        worker.wait()
    for n in range(1, 4):
        p.one("select readpast.enqueue('q', 'x')")
        # Once a second a sweep notifies one of the waiters and unregisters it. If this
        # waiter is dead, the next sweep notifies another waiter, and so on until a
        # sweep notifies a living waiter.
        p.started_in(n, 12)
    p.one("select readpast.enqueue('q', 'x')")
    assert p.started_in(4, 5) < 2


@case
def a_job_that_was_enqueued_before_workers_waited_and_committed_later(p):
    p.run("queue", "set", "q")
    late = psycopg2.connect(p.url)
    late.cursor().execute("select readpast.enqueue('q', 'late')")
    p.start(4)
    p.asleep(4)
    late.commit()
    late.close()
    assert p.started_in(1, 5) < 2


@case
def a_channel_that_loses_notifications_silently(p):
    relay = Relay(f"{SERVER}/.s.PGSQL.5432")
    host = f"host=127.0.0.1 port={relay.port}"
    database = p.one("select current_database()")
    p.start(5, f"{host} user=postgres dbname={database} "
               "sslmode=disable gssencmode=disable")
    eventually(20, lambda: relay.dropped >= 5)
    time.sleep(2)
    assert p.one("select count(*) from readpast.waiter") == 0
    for n in range(1, 6):
        p.one("select readpast.enqueue('q', 'x')")
        took = p.started_in(n, 5)
        assert took < 2.5, took


# ---- the server ----

def run(function, number, url, folder):
    name = f"case_{number}"
    manage(url, f"create database {name}")
    place_folder = folder / name
    place_folder.mkdir()
    place = Place(url.replace("/postgres?", f"/{name}?"), place_folder)
    try:
        function(place)
        return True
    except Exception:
        print("# " + traceback.format_exc().replace("\n", "\n# "))
        return False
    finally:
        place.close()


def main(folder):
    wanted = sys.argv[3:]
    failed = 0
    url = pg_temp("start", SERVER, f"max_connections={IDLE + 40}", "log_statement=all")
    try:
        for number, function in enumerate(SUITE, 1):
            if wanted and function.__name__ not in wanted:
                continue
            good = run(function, number, url, folder)
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - "
                  f"{function.__name__}", flush=True)
    finally:
        pg_temp("stop", SERVER, "immediate")
    print(f"1..{len(SUITE)}")
    return failed > 0


with tempfile.TemporaryDirectory() as top:
    pathlib.Path(top).chmod(0o755)
    SERVER = str(pathlib.Path(top) / "server")
    status = main(pathlib.Path(top))
sys.exit(status)
