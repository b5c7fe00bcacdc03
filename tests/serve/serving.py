"""A server process with a database of its own, and a client, for the tests of `readpast
serve`. Each test is a method of a class of unittest; its name is a sentence.

  PROGRAM.py READPAST KIND [TEST...]     KIND is sqlite: or postgres:

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import atexit
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

READPAST = pathlib.Path(sys.argv[1]).resolve()
KIND = sys.argv[2] if len(sys.argv) > 2 else "sqlite:"
count = 0


def new_url(folder):
    """Return the URL of a new database."""
    global count
    count += 1
    if KIND == "sqlite:":
        return f"sqlite:{folder}/{count}.db"
    server = os.environ["READPAST_TEST_POSTGRES"]
    mark = "&" if "?" in server else "?"
    url = f"{server}{mark}schema=serve_{os.getpid()}_{count}"
    subprocess.run([READPAST, "--db", url, "init"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return url


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    @property
    def json(self):
        return json.loads(self.bytes)

    def __repr__(self):
        return f"{self.status} {self.bytes[:500]}"


class Server:
    """A process of `readpast serve` and a keep-alive connection to it."""

    def __init__(self, folder, *options, url=None, listen="127.0.0.1:0"):
        self.url = url or new_url(folder)
        self.errors = open(pathlib.Path(folder) / "errors", "a+")
        self.process = subprocess.Popen(
            [READPAST, "--db", self.url, "serve", "--listen", listen, *options],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        atexit.register(self.process.kill)  # if a test fails before it stops it
        line = self.process.stdout.readline()
        found = re.match(r"listening on https?://(.*):(\d+)(/.*)?$|listening on unix:(.*)$",
                         line)
        if not found:
            self.errors.seek(0)
            raise AssertionError(f"no server: {line}{self.errors.read()}")
        self.host, self.port = found[1], int(found[2] or 0)
        self.connection = None

    def connect(self, timeout=20):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers={}, connection=None):
        """Send a request and return its answer. A body that is not bytes is sent as
        JSON."""
        if not connection:
            self.connection = self.connection or self.connect()
            connection = self.connection
        headers = dict(headers)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, headers)
        return Answer(connection.getresponse())

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.ask("POST", path, body, **options)

    def enqueue(self, queue, **job):
        return self.post(f"/v1/queues/{queue}/jobs", {"payload": "x", **job}).json["id"]

    def claim(self, *queues, **options):
        return self.post("/v1/claim", {"queues": list(queues), **options}).json["jobs"]

    def send_claim(self, queue, wait="10s"):
        """Send a claim that waits and return the socket, without reading the answer."""
        body = json.dumps({"queues": [queue], "wait": wait}).encode()
        s = socket.create_connection((self.host, self.port), timeout=20)
        s.sendall(b"POST /v1/claim HTTP/1.1\r\nHost: %s:%d\r\nContent-Length: %d\r\n\r\n%s"
                  % (self.host.encode(), self.port, len(body), body))
        return s

    def wait_until_read(self):
        """Wait until the server has read what other connections have sent before."""
        connection = self.connect()
        self.get("/healthz", connection=connection)
        connection.close()

    def metric(self, name, **options):
        """Return the value of a metric, whose name contains its labels if it has any."""
        text = self.get("/metrics", **options).bytes.decode()
        return int(re.search("^%s (\\d+)$" % re.escape(name), text, re.M)[1])

    def memory(self):
        """Return how many bytes of memory the process has in use."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def waiting(self):
        """Return how many claims wait for jobs."""
        return self.metric('readpast_http_waiting{for="claim"}')

    def raw(self, data, timeout=10):
        """Send bytes on a connection of their own, and return all bytes of the answer.
        The server has to close the connection."""
        with socket.create_connection((self.host, self.port), timeout=timeout) as s:
            s.sendall(data)
            got = b""
            while True:
                try:
                    more = s.recv(65536)
                except ConnectionResetError:
                    return got
                if not more:
                    return got
                got += more

    def sql(self, statement):
        """Run a statement on the database, and return its rows. {NAME} stands for the
        name of the table NAME."""
        if KIND == "sqlite:":
            with contextlib.closing(self.sqlite()) as db:
                return db.execute(self.named(statement)).fetchall()
        done = subprocess.run([*self.psql(), "-c", self.named(statement)],
                              check=True, text=True, stdout=subprocess.PIPE)
        return [tuple(line.split("|")) for line in done.stdout.splitlines()]

    def named(self, statement):
        """Insert the names of the tables into a statement."""
        prefix = "readpast_" if KIND == "sqlite:" else self.url.rsplit("schema=", 1)[1] + "."
        return re.sub(r"{(\w+)}", prefix + r"\1", statement)

    def sqlite(self):
        return sqlite3.connect(self.url.removeprefix("sqlite:"), isolation_level=None)

    def psql(self):
        return ["psql", "-qAtX", self.url.rsplit("schema=", 1)[0].rstrip("?&")]

    @contextlib.contextmanager
    def during(self, first, last="select"):
        """Run a statement in a transaction of another client. When a request that the block
        has sent waits for this transaction, run the last statement, and commit."""
        if KIND == "sqlite:":
            with contextlib.closing(self.sqlite()) as db:
                db.execute("begin immediate")
                db.execute(self.named(first))
                yield
                time.sleep(0.3)  # nothing shows that a request waits
                db.execute("commit")
            return
        psql = subprocess.Popen(self.psql(), text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        # A request waits for 100 ms at most.
        print("begin;", self.named(first),
              """; select 'begun';
              do $$ begin
                  for i in 1..3000 loop
                      exit when exists (select from pg_locks where not granted
                                        and pg_backend_pid() = any(pg_blocking_pids(pid)));
                      perform pg_sleep(0.002);
                  end loop;
              end $$;""", self.named(last), "; commit;", file=psql.stdin, flush=True)
        psql.stdout.readline()
        yield
        psql.communicate()

    def ask_during(self, statements, method, path, body=None, headers={}):
        """Send a request that waits for the transaction of during(), and return its
        answer."""
        connection = self.connect()
        with self.during(*statements):
            connection.request(method, path, json.dumps(body) if body else None,
                               {"Content-Type": "application/json", **headers})
        answer = Answer(connection.getresponse())
        connection.close()
        # On a slow machine the request may have waited for too long.
        return self.ask(method, path, body, headers) if answer.status == 503 else answer

    def readpast(self, *args):
        return subprocess.run([READPAST, "--db", self.url, *args], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def stop(self, number=signal.SIGTERM):
        if self.connection:
            self.connection.close()
            self.connection = None
        self.process.send_signal(number)
        status = self.process.wait(30)
        self.process.stdout.close()
        self.errors.close()
        return status


class Case(unittest.TestCase):
    """A test with a server that is started for the whole class. `options` are its
    options."""

    options = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server(cls.folder.name, *cls.options)

    @classmethod
    def tearDownClass(cls):
        status = cls.server.stop()
        cls.said = open(pathlib.Path(cls.folder.name) / "errors").read()
        cls.folder.cleanup()
        assert status == 0, f"the server ended with {status}: {cls.said[-3000:]}"

    def setUp(self):
        self.queue = self.id().rsplit(".", 1)[1][:100]

    def refused(self, answer, status, *words):
        """Check the status of an error, and that its detail has these words."""
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        problem = answer.json
        self.assertEqual(problem["status"], status)
        self.assertIn(problem["outcome"], ("none", "unknown"))
        self.assertIsInstance(problem["retry"], bool)
        for word in words:
            self.assertIn(word, problem["detail"])
        return problem


def forget_freed_memory():
    """Call this before the first server starts if a test compares its memory. It limits
    the freed memory that a sanitizer keeps."""
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"


def eventually(seconds, look):
    """Call look() until its result is true. Returns the result."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found or time.monotonic() > end:
            return found
        time.sleep(0.01)


class Tap(unittest.TestResult):
    """Print each test as a line of TAP, with the underscores of its name as spaces."""

    number = 0

    def line(self, test, word, why=""):
        self.number += 1
        name = getattr(test, "_testMethodName", str(test).split(" ", 1)[0])
        name = name.replace("test_", "", 1).replace("_", " ")
        print(f"{word} {self.number} - {name}", flush=True)
        for text in why.splitlines():
            print("#", text)

    def addSuccess(self, test):
        self.line(test, "ok")

    def addError(self, test, error):
        super().addError(test, error)
        self.line(test, "not ok", self.errors[-1][1])

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.line(test, "not ok", self.failures[-1][1])

    def addSubTest(self, test, part, error):
        super().addSubTest(test, part, error)
        if error:
            self.line(test, "not ok", f"{part}\n{self._exc_info_to_string(error, test)}")


def main():
    names = [f"__main__.{name}" for name in sys.argv[3:]]
    loader = unittest.defaultTestLoader
    suite = (loader.loadTestsFromNames(names) if names
             else loader.loadTestsFromModule(sys.modules["__main__"]))
    for name in ("READPAST_DB", "READPAST_HISTORY"):
        os.environ.pop(name, None)
    result = Tap()
    suite.run(result)
    print(f"1..{result.number}")
    sys.exit(not result.wasSuccessful() or not result.number)
