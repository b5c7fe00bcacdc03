#!/usr/bin/python3
"""Test the programs of examples/: each keeps its promise, even if it is killed again
and again.

  programs.py EXTENSION READPAST SOURCE FILE [PROGRAM|FOLDER]

FILE is the name of a file in examples/. PROGRAM is the compiled program of an example
in C. FOLDER is a folder in which npm may install packages.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

# importing `example` also sets the path for the imports below
from example import SOURCE, Example, databases
from cases import EXTENSION, READPAST, sanitized
import receiver

HERE = pathlib.Path(__file__).resolve().parent


class Extended(Example):
    # If the extension was built with a sanitizer, the program must load the sanitizer's
    # runtime before the extension.
    environment = {"LD_PRELOAD": sanitized() or "", "ASAN_OPTIONS": "detect_leaks=0"}


class Worker(Extended):
    """each name is greeted once"""

    file, jobs, kills = "worker.py", 300, 12

    def set_up(self):
        self.enqueue(range(self.jobs))
        self.db.query("create table greeting (job integer primary key, text)")

    def commands(self):
        return [[sys.executable, self.path, self.db.path, EXTENSION, self.queue]] * 3

    def done(self):
        return self.db.query("select count(*) from greeting")[0][0]

    def check(self):
        assert self.db.query("select count(distinct text) from greeting") == [(self.jobs,)]
        # The worker that is left may have started just now, and may not handle SIGTERM
        # yet. So let it do a job first.
        self.leave_one()
        self.enqueue([self.jobs])
        self.eventually(lambda: self.done() > self.jobs, "one more greeting")
        self.crew[-1].terminate()
        assert self.crew.pop().wait() == 0, "SIGTERM ends it"


class Psycopg(Example):
    """each page is stored once, even if fetching it takes longer than a lease"""

    file, jobs = "worker_psycopg.py", 30
    database = databases.PostgreSQL

    def set_up(self):
        self.web = receiver.Receiver()
        self.db.query("create table page (job bigint primary key, url text, size bigint)")
        self.enqueue(f"{self.web.url}/{n}" for n in range(1, self.jobs + 1))

    def commands(self):
        return [[sys.executable, self.path, self.db.url, self.queue]] * 3

    def done(self):
        return self.db.query("select count(*) from page")[0][0]

    def check(self):
        assert self.db.query("select size from page order by size") == [
            (n,) for n in range(1, self.jobs + 1)]
        # Check that a failed job is tried again, and that a waiting worker is notified.
        self.readpast("enqueue", self.queue, "http://127.0.0.1:9/")
        self.eventually(lambda: '"last_error":"' in self.readpast("list", "--json"),
                        "a page that is not there")
        self.leave_one()
        # Delete the registrations of workers that were killed, because one of them
        # could be notified in place of the living worker.
        self.db.query("delete from readpast.waiter")
        # The more workers wait, the less often each polls. With 300 of them the worker
        # polls after 7 seconds or more. So a job that starts earlier was started because
        # of a notification.
        self.db.query("insert into readpast.waiter (queue_id, until, worker_id)"
                      " select 0, now() + interval '1 hour', -n from generate_series(1, 300) n")
        time.sleep(2)
        began = time.monotonic()
        self.readpast("enqueue", self.queue, f"{self.web.url}/77")
        self.eventually(lambda: self.done() > self.jobs, "the last page")
        assert time.monotonic() < began + 4, "a worker that waits is notified"
        assert self.readpast("workers").count("pages:") >= 1
        # Only the last worker stops normally, so only this worker has marked itself as
        # stopped. All other workers were killed.
        self.crew[-1].terminate()
        assert self.crew.pop().wait() == 0, "SIGTERM ends it"
        assert self.db.query("select count(*) from readpast.worker"
                             " where stopped_at is not null") == [(1,)]


class Node(Psycopg):
    __doc__ = Psycopg.__doc__
    file = "worker_pg.mjs"

    def set_up(self):
        """Install the packages with npm, once for each build."""
        self.program.mkdir(parents=True, exist_ok=True)
        wanted, there = HERE / "package.json", self.program / "installed.json"
        if not there.exists() or there.read_text() != wanted.read_text():
            shutil.copy(wanted, self.program)
            subprocess.run(["npm", "install", "--no-audit", "--no-fund"], check=True,
                           cwd=self.program, stdout=subprocess.DEVNULL, timeout=300)
            shutil.copy(wanted, there)
        self.path = shutil.copy(self.path, self.program)
        super().set_up()

    def commands(self):
        return [["node", self.path, self.db.url, self.queue]] * 3


class Shell(Example):
    """each file has its sum"""

    file, jobs, environment = "worker.sh", 30, {"LEASE": "2s", "LIMIT": "1"}
    bad = []  # payloads that are no path

    def set_up(self):
        for n in range(self.jobs):
            (self.folder / f"f{n}").write_text(f"{n}\n" * 1000)
        self.enqueue([*(self.folder / f"f{n}" for n in range(self.jobs)),
                      self.folder / "missing"])
        (self.folder / "-b").write_text("a name that looks like an option")
        for payload in [*self.bad, "-b"]:
            self.readpast("enqueue", self.queue, "--one", "--quiet", "--priority", "50",
                          input=payload, encoding="latin-1")

    def commands(self):
        return [[self.path, self.queue]] * 3

    def done(self):
        return len(list(self.folder.glob("f*.sum")))

    def is_finished(self):
        return (self.db.live() == 1 + len(self.bad) and self.done() == self.jobs
                and (self.folder / "-b.sum").exists())

    def check(self):
        sums = [*sorted(self.folder.glob("f*.sum")), self.folder / "-b.sum"]
        subprocess.run(["sha256sum", "--quiet", "--check", *sums], check=True,
                       cwd=self.folder)
        self.eventually(
            lambda: "no such file" in self.readpast("list", self.queue, "--json").lower(),
            "the sum of no file")


class Http(Shell):
    """each job is done and each sum is complete, although workers are killed"""

    file, runner, lease, environment = "worker_http.sh", [], "2s", {"LIMIT": "1"}

    # not UTF-8, with a NUL character, with a line break, empty, an option, and longer than
    # an argument of a program may be
    bad = ["\xff", "a\0b", "ab\n", "", "-c", "x" * 200000]

    def set_up(self):
        self.server = subprocess.Popen(
            [READPAST, "serve", "--listen", "127.0.0.1:0", "--access-log", self.folder / "log"],
            env=self.env, stdout=subprocess.PIPE, text=True)
        self.address = self.server.stdout.readline().split()[2].rstrip("/")
        self.bad = [*self.bad, f"{self.address}/healthz"]
        (self.folder / "ab").write_text("a name that is a bad payload without a character")
        super().set_up()

    def code(self):
        """Return the lines of the program without comments and empty lines."""
        lines = (SOURCE / self.file).read_text().splitlines()
        return [line for line in lines if not re.match(r"\s*(#|//|<\?php|$)", line)]

    def commands(self):
        return [[*self.runner, self.path, self.address, self.queue]] * 3

    def errors(self):
        """Return the errors of all jobs that are left."""
        lines = self.readpast("list", self.queue, "--json").splitlines()
        return [json.loads(line)["last_error"] or "" for line in lines]

    def check(self):
        assert len(self.code()) <= 20, "the worker is short"
        super().check()
        self.eventually(lambda: all(self.errors()), "the error of each payload that is no path")
        assert any("not text" in error for error in self.errors()), self.errors()
        assert "healthz" not in (self.folder / "log").read_text(), "a URL was fetched"

    def tear_down(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()
        super().tear_down()


class HttpPython(Http):
    __doc__ = Http.__doc__
    file = "worker_http.py"


class HttpNode(Http):
    __doc__ = Http.__doc__
    file, runner = "worker_http.mjs", ["node"]


class HttpPhp(Http):
    __doc__ = Http.__doc__
    file, runner = "worker_http.php", ["php"]


class Print(Example):
    """each payload is printed by at least one worker"""

    file, jobs, kills = "worker.c", 20000, 6

    def set_up(self):
        self.enqueue(range(self.jobs))

    def commands(self):
        return [[self.program, self.db.url, self.queue]] * 2

    def done(self):
        return len(set(self.output()))

    def check(self):
        assert self.done() == self.jobs


class Enqueue(Example):
    """each id that the program has printed belongs to a job"""

    file, jobs, kills = "enqueue.c", 6000, 3

    def set_up(self):
        (self.folder / "input").write_text("".join(f"{n}\n" for n in range(self.jobs)))

    def commands(self):
        return [[self.program, self.db.url, self.queue]]

    def done(self):
        return len(self.output())

    def is_finished(self):
        return self.crew[0].poll() == 0

    def check(self):
        ids = {str(id) for id, in self.db.query("select id from readpast_job")}
        assert set(self.output()) <= ids
        assert len(self.output()) >= self.jobs


class Transfer(Example):
    """each job moves 1, and only once"""

    file, queue, jobs = "transfer.c", "transfers", 2000

    def set_up(self):
        self.db.query("create table account (name, money)")
        self.db.query(f"insert into account values ('a', {self.jobs}), ('b', 0)")
        self.enqueue(range(self.jobs))

    def commands(self):
        return [[self.program]] * 3

    def done(self):
        return self.db.query("select money from account where name = 'b'")[0][0]

    def check(self):
        assert self.db.query("select * from account") == [("a", 0), ("b", self.jobs)]


class Attach(Example):
    """each line becomes one order and one job"""

    file, queue, jobs = "attach.c", "mail", 4000

    def set_up(self):
        self.db.query("create table orders (line integer primary key, text)")
        (self.folder / "input").write_text("".join(f"{n}'\n" for n in range(self.jobs)))

    def commands(self):
        return [[self.program, self.db.path]]

    def done(self):
        return self.db.query("select count(*) from orders")[0][0]

    def is_finished(self):
        return self.done() == self.jobs

    def check(self):
        orders = self.db.query("select text from orders order by line")
        assert orders == [(f"{n}'\n",) for n in range(self.jobs)]
        assert self.db.query("select payload from readpast_jobs order by id") == orders


class Outbox(Example):
    """each order is delivered, and nothing else is"""

    file, queue, jobs = "outbox.sql", "outbox", 150
    database = databases.PostgreSQL

    def set_up(self):
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", self.db.url, "-f", self.path],
                       check=True)
        self.enqueue([])
        # A third of the orders are rolled back.
        order = "begin; insert into orders (customer, total) values ('Ada', 12); %s;\n"
        (self.folder / "input").write_text(
            "".join(order % end for end in ("commit", "rollback", "commit")) * self.jobs)

    def commands(self):
        deliver = 'read -r event; echo "$READPAST_JOB_ID $event" >>delivered'
        return [["psql", "-qX", self.db.url],
                [READPAST, "work", "outbox", "--quiet", "-j", "2", "--", "sh", "-c", deliver]]

    def delivered(self):
        delivered = self.folder / "delivered"
        lines = delivered.read_text().splitlines() if delivered.exists() else []
        return {line.split(" ", 1)[0]: json.loads(line.split(" ", 1)[1])["id"]
                for line in lines}

    def done(self):
        return len(self.delivered())

    def is_finished(self):
        # psql must have ended before the jobs are counted, or it may add some more.
        return any(p.poll() == 0 for p in self.crew) and self.db.live() == 0

    def check(self):
        orders = self.db.query("select id from orders")
        assert sorted(self.delivered().values()) == sorted(id for id, in orders)


class Debounce(Extended):
    """the last text of each note is indexed; most earlier texts are not"""

    file, queue, jobs, kills = "debounce.py", "index", 60, 6
    changes = 0

    def set_up(self):
        self.enqueue([])

    def call(self, *args):
        return [sys.executable, self.path, self.db.path, EXTENSION, *args]

    def commands(self):
        return [self.call("work")] * 2

    def edit(self, note, text, kill_after=None):
        process = subprocess.Popen(self.call("edit", note, text), env=self.env)
        try:
            assert process.wait(kill_after) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def done(self):
        """Change a note once more. The process that makes the change may be killed.
        Returns the number of changes."""
        self.changes += 1
        self.edit(f"note {self.changes % 2}", f"b a {self.changes}",
                  random.choice([None, random.random() * 0.2]))
        return self.changes

    def check(self):
        for note in range(2):
            self.edit(f"note {note}", f"the last of {note}")
        self.eventually(lambda: self.db.live() == 0, "the index")
        notes = self.db.query("select name, words, runs from note order by name")
        assert [(name, words) for name, words, _ in notes] == [
            (f"note {n}", " ".join(sorted(f"the last of {n}".split()))) for n in range(2)]
        assert sum(runs for *_, runs in notes) < self.changes, notes


class Backoff(Example):
    """each call is made, none too early, and no call has its effect twice"""

    file, jobs, kills = "backoff.py", 24, 4
    # After the answer 429 a call must not be repeated within 1 s (Retry-After: 1). If a
    # client is killed before it has read this answer, its job is tried again when the
    # lease ends. So the lease must be longer than 1 s.
    lease = "2s"

    def set_up(self):
        self.web = receiver.Receiver()
        self.env["API"] = f"{self.web.url}/messages"
        self.enqueue([*(json.dumps({"to": n}) for n in range(self.jobs)), "bad"])

    def commands(self):
        return [[READPAST, "work", self.queue, "--quiet", "-j", "2", "--", self.path]] * 2

    def done(self):
        return len(self.web.done)

    def check(self):
        assert sorted(self.web.done.values()) == sorted(
            json.dumps({"to": n}).encode() for n in range(self.jobs))
        assert self.web.too_early() == []
        assert '"bad"' in self.readpast("list", self.queue, "--state", "dead", "--json")


class Webhook(Example):
    """each event is delivered, always under the same id"""

    file, jobs, kills = "webhook.sh", 24, 4

    def set_up(self):
        self.web = receiver.Receiver()
        self.enqueue(json.dumps({"url": self.web.url, "event": event})
                     for event in [*range(self.jobs), "bad"])

    def commands(self):
        return [[READPAST, "work", self.queue, "--quiet", "-j", "2", "--", self.path]] * 2

    def done(self):
        return len(self.web.done)

    def check(self):
        assert sorted(map(json.loads, self.web.done.values())) == list(range(self.jobs))
        dead = self.readpast("list", self.queue, "--state", "dead", "--json")
        assert "answered 400" in dead


EXAMPLES = [Worker, Psycopg, Node, Shell, Http, HttpPython, HttpNode, HttpPhp, Print,
            Enqueue, Transfer, Attach, Outbox, Debounce, Backoff, Webhook]
COMMENTS = {".py": r'\A#.*\n"""[^"]*"""|^\s*#.*', ".sh": r"^\s*#.*", ".sql": r"^\s*--.*",
            ".mjs": r"^\s*//.*", ".php": r"^\s*//.*", ".c": r"/\*[^*]*(\*(?!/)[^*]*)*\*/"}


def is_short(path):
    text = re.sub(COMMENTS[path.suffix], "", path.read_text(), flags=re.MULTILINE)
    code = [line for line in text.splitlines() if line.strip()]
    assert 10 < len(code) <= (60 if path.suffix == ".c" else 40), len(code)


def keeps_its_promise(kind):
    with tempfile.TemporaryDirectory() as folder:
        example = kind(pathlib.Path(folder))
        try:
            example.run()
            example.check()
        finally:
            example.tear_down()


def main():
    [kind] = [kind for kind in EXAMPLES if kind.file == sys.argv[4]]
    cases = [
        (f"{kind.file} is short", lambda: is_short(SOURCE / kind.file)),
        (f"{kind.__doc__}, after {kind.kills} kills", lambda: keeps_its_promise(kind))]
    failed = 0
    for number, (name, function) in enumerate(cases, 1):
        try:
            function()
            word = "ok"
        except Exception:
            failed += 1
            word = "not ok"
            print("# " + traceback.format_exc().replace("\n", "\n# "))
        print(f"{word} {number} - {name}", flush=True)
    print(f"1..{len(cases)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
