#!/usr/bin/env python3
"""Test how the server ends, how many connections it accepts, and what it logs.

  ends.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import pathlib
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time

from serving import KIND, READPAST, Case, Server, eventually, main, new_url


class Drain(Case):
    """Each test has a server of its own, which it ends."""

    def setUp(self):
        self.own = Server(self.folder.name)
        self.address = (self.own.host, self.own.port)

    def open(self, data):
        s = socket.create_connection(self.address, timeout=20)
        s.sendall(data)
        return s

    def head(self, *lines, path="/v1/queues/w/jobs"):
        return "\r\n".join([f"POST {path} HTTP/1.1", f"Host: {self.own.host}:{self.own.port}",
                            *lines, "", ""]).encode()

    def end(self):
        self.own.process.send_signal(signal.SIGTERM)

    def ended(self, seconds):
        """Check that the process ends in time, with the exit status 0."""
        self.assertEqual(self.own.process.wait(seconds), 0)
        self.own.stop()

    def read_all(self, s):
        got = b""
        while more := s.recv(65536):
            got += more
        return got

    def test_a_request_whose_body_is_not_complete_yet_is_answered(self):
        s = self.open(self.head("Content-Length: 10", "Content-Type: text/plain") + b"12345")
        self.own.wait_until_read()
        self.end()
        time.sleep(0.3)
        s.sendall(b"67890")
        self.assertIn(b"201 Created", self.read_all(s))
        self.ended(10)
        again = Server(self.folder.name, url=self.own.url)
        self.assertEqual([job["payload"] for job in again.claim("w")], ["1234567890"])
        self.assertEqual(again.stop(), 0)

    def test_a_claim_that_waits_is_answered_with_an_empty_list(self):
        answers = []
        poll = threading.Thread(target=lambda: answers.append(self.own.post(
            "/v1/claim", {"queues": ["none"], "wait": "60s"}, connection=self.own.connect())))
        poll.start()
        self.assertTrue(eventually(10, lambda: b'{for="claim"} 1' in self.own.get(
            "/metrics", connection=self.own.connect()).bytes))
        self.end()
        poll.join(20)
        self.assertEqual((answers[0].status, answers[0].json), (200, {"jobs": []}))
        self.ended(5)

    def test_a_stream_of_events_and_idle_connections_are_closed_at_once(self):
        stream = self.open(self.head(path="/v1/events").replace(b"POST", b"GET"))
        idle = self.open(b"")
        self.assertIn(b"200 OK", stream.recv(65536))
        self.end()
        began = time.monotonic()
        self.read_all(stream)
        try:
            self.assertEqual(idle.recv(100), b"")
        except ConnectionResetError:
            pass
        self.ended(5)
        self.assertLess(time.monotonic() - began, 5)

    def test_a_stream_whose_request_is_complete_after_the_signal_ends_at_once(self):
        stream = self.open(b"GET /v1/events HTTP/1.1\r\n")
        self.own.wait_until_read()
        self.end()
        time.sleep(0.3)
        stream.sendall(f"Host: {self.own.host}:{self.own.port}\r\n\r\n".encode())
        self.assertIn(b"200 OK", self.read_all(stream))
        self.ended(5)

    def test_no_connection_is_accepted_while_the_last_answers_are_sent(self):
        s = self.open(self.head("Content-Length: 1", "Content-Type: text/plain"))
        self.own.wait_until_read()
        self.end()

        def refused():
            try:
                socket.create_connection(self.address, timeout=5).close()
                return False
            except ConnectionRefusedError:
                return True
            except ConnectionResetError:  # the server stopped listening just then
                return False
        self.assertTrue(eventually(5, refused))
        s.sendall(b"x")
        self.assertIn(b"201 Created", self.read_all(s))
        self.ended(10)

    def test_each_of_three_signals_ends_the_server(self):
        for number in (signal.SIGINT, signal.SIGHUP):
            with self.subTest(number=number):
                # The server inherits this. It leaves ignored signals ignored.
                before = signal.signal(number, signal.SIG_DFL)
                own = Server(self.folder.name)
                signal.signal(number, before)
                self.assertEqual(own.stop(number), 0)
        self.end()
        self.ended(10)

    def test_a_client_that_never_ends_its_request_does_not_keep_the_server(self):
        self.open(self.head("Content-Length: 10"))
        self.own.wait_until_read()
        self.end()
        self.ended(15)


class Ready(Case):
    def test_a_server_that_has_not_swept_yet_is_not_ready_and_says_so(self):
        url = new_url(self.folder.name)
        before = Server(self.folder.name, url=url)
        before.sql("alter table {schedule} rename to hidden")
        self.assertEqual(before.stop(), 0)
        own = Server(self.folder.name, url=url)
        self.refused(own.get("/readyz"), 503, "the first sweep is not done yet")
        hidden = "hidden" if KIND == "sqlite:" else "{hidden}"
        own.sql(f"alter table {hidden} rename to "
                + ("{schedule}" if KIND == "sqlite:" else "schedule"))
        self.assertTrue(eventually(20, lambda: own.get("/readyz").status == 200))
        self.assertEqual(own.stop(), 0)

    def test_a_server_whose_tables_are_gone_is_not_ready_at_once(self):
        own = Server(self.folder.name)
        self.assertTrue(eventually(20, lambda: own.get("/readyz").status == 200))
        own.sql("drop table {job}" + ("" if KIND == "sqlite:" else " cascade"))
        self.refused(own.get("/readyz"), 500)
        self.assertEqual(own.stop(), 0)


if KIND == "sqlite:":
    class Hung(Case):
        def end_while_a_request_waits(self):
            """Start a server, and send it SIGTERM while a request waits for the write
            lock. Return the server, the connection with the lock, and that of the
            request."""
            url = new_url(self.folder.name)
            own = Server(self.folder.name, url=url + "?busy=1m")
            own.enqueue("q")
            lock = sqlite3.connect(url.removeprefix("sqlite:"), isolation_level=None)
            lock.execute("begin immediate")
            connection = own.connect()
            connection.request("POST", "/v1/queues/q/jobs", b"x",
                               {"Content-Type": "text/plain"})
            own.get("/healthz")  # is answered after that request has begun
            own.process.send_signal(signal.SIGTERM)
            return own, lock, connection

        def test_an_answer_that_comes_after_the_drain_is_still_sent(self):
            own, lock, connection = self.end_while_a_request_waits()
            time.sleep(8.4)  # longer than DRAIN_MS
            lock.execute("rollback")
            lock.close()
            self.assertEqual(connection.getresponse().status, 201)
            self.assertEqual(own.process.wait(10), 0)
            own.stop()

        def test_a_database_that_does_not_answer_keeps_the_server_for_10_s_at_most(self):
            own, lock, connection = self.end_while_a_request_waits()
            self.assertEqual(own.process.wait(20), 1)
            lock.execute("rollback")
            own.errors.seek(0)
            self.assertIn("has not answered", own.errors.read())
            lock.close()

    class Replaced(Case):
        def files(self, own):
            path = pathlib.Path(own.url.removeprefix("sqlite:"))
            return [pathlib.Path(f"{path}{end}") for end in ("", "-wal", "-shm")]

        def test_a_server_without_its_file_fails_until_there_is_a_new_one(self):
            own = Server(self.folder.name)
            own.enqueue("old")
            own.post("/v1/claim", {"queues": ["old"], "worker": "http"})
            waits = own.send_claim("new")
            self.assertTrue(eventually(10, lambda: own.waiting() == 1))
            for file in self.files(own):
                file.unlink()
            for path in ("stats", "workers", "doctor", "queues"):
                for _ in range(4):
                    self.refused(own.get(f"/v1/{path}"), 502, "deleted or replaced")
            self.refused(own.get("/readyz"), 502, "deleted or replaced")
            self.assertEqual(own.metric("readpast_database_up"), 0)
            own.readpast("enqueue", "new", "x")
            queues = [q["queue"] for q in own.get("/v1/stats").json["queues"]]
            self.assertEqual(queues, ["new"])
            self.assertIn(b'"payload":"x"', waits.recv(65536))
            self.assertEqual(own.metric("readpast_database_up"), 1)
            self.assertEqual(own.post("/v1/queues/new/jobs", {"payload": "y"}).status, 201)
            self.assertEqual(own.get("/readyz").status, 200)
            waits.close()
            self.claim_beside_the_worker_that_has_the_old_id(own)
            self.assertEqual(own.stop(), 0)

        def claim_beside_the_worker_that_has_the_old_id(self, own):
            file = sqlite3.connect(self.files(own)[0], isolation_level=None)
            now = time.time_ns() // 1000000
            file.execute("insert into readpast_worker (id, name, host, pid, queues, kinds,"
                         " started_at, seen_at)"
                         " values (1, 'other', '', 0, '[]', '{}', ?, ?)", (now, now))
            file.close()
            own.post("/v1/claim", {"queues": ["new"], "worker": "http"})
            workers = own.get("/v1/workers").json["workers"]
            self.assertEqual({w["name"] for w in workers}, {"other", "http"})

        def test_a_new_file_beside_the_old_wal_is_not_opened(self):
            own = Server(self.folder.name)
            own.enqueue("old")
            file = self.files(own)[0]
            subprocess.run([READPAST, "--db", f"sqlite:{file}.new", "init"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            pathlib.Path(f"{file}.new").rename(file)
            self.refused(own.get("/v1/stats"), 502, "deleted or replaced")
            self.refused(own.post("/v1/queues/q/jobs", {"payload": "x"}), 502,
                         "deleted or replaced")
            own.stop()

    class Full(Case):
        def test_a_database_that_has_the_largest_size_of_a_file_is_a_full_disk(self):
            path = pathlib.Path(self.server.url.removeprefix("sqlite:"))
            self.server.enqueue("q")
            end = path.stat().st_size + 100000
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (end, hard))
            for _ in range(500):
                answer = self.server.post("/v1/queues/q/jobs", {"payload": "x" * 20000})
                if answer.status != 201:
                    break
            self.refused(answer, 507, "size")
            resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
            self.server.enqueue("q")


class Connections(Case):
    options = ("--connections", "5")

    def test_a_connection_over_the_limit_is_closed_and_others_still_work(self):
        kept = [self.server.connect() for _ in range(5)]
        for connection in kept:
            self.assertEqual(self.server.get("/healthz", connection=connection).status, 200)
        with socket.create_connection((self.server.host, self.server.port), timeout=10) as s:
            try:
                self.assertEqual(s.recv(100), b"")
            except ConnectionResetError:
                pass
        self.assertEqual(self.server.get("/healthz", connection=kept[0]).status, 200)
        for connection in kept:
            connection.close()

        def works():
            try:
                return self.server.get("/healthz", connection=self.server.connect())
            except OSError:
                return None
        self.assertTrue(eventually(5, works))


class Descriptors(Case):
    def cpu_s(self):
        stat = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text()
        ticks = sum(int(word) for word in stat.rsplit(")", 1)[1].split()[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")

    def test_a_server_that_can_open_no_more_files_waits_until_it_can(self):
        pid = self.server.process.pid
        self.assertTrue(eventually(20, lambda: self.server.get("/readyz").status == 200))
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        most = min(set(range(1000)) - {int(name) for name in os.listdir(f"/proc/{pid}/fd")})
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, before[1]))
        connections = [self.server.connect() for _ in range(20)]
        for connection in connections:
            connection.request("GET", "/healthz")
        began = self.cpu_s()
        time.sleep(2)
        self.assertLess(self.cpu_s() - began, 1)  # a loop without waits takes 2 s
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        for connection in connections:
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()


class Closed(Case):
    def test_connections_that_are_closed_while_doctor_runs_do_no_harm(self):
        """On SQLite, doctor reads the locks of the database in a child process, which has
        copies of the sockets for a moment."""
        failures = []

        def ask():
            for path in ("/metrics", "/v1/stats", "/none", "/v1/doctor") * 25:
                connection = self.server.connect()
                try:
                    self.server.get(path, headers={"Connection": "close"},
                                    connection=connection)
                except OSError as error:
                    failures.append(error)
                connection.close()

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Log(Case):
    options = ("--tokens", "--access-log", "-")

    def test_a_line_names_the_token_and_never_has_its_secret(self):
        token = self.server.readpast("token", "add", "spy", "--may", "read:*").strip()
        answer = self.server.get("/v1/queues",
                                 headers={"Authorization": f"Bearer {token}"})
        self.assertEqual(answer.status, 200)
        refused = self.server.get("/v1/jobs?key=%22%0A",
                                  headers={"Authorization": f"Bearer {token}x"})
        self.assertEqual(refused.status, 401)
        text = [self.server.process.stdout.readline() for _ in range(2)]
        lines = [json.loads(line) for line in text]
        self.assertEqual([(x.get("token"), x["status"], x["target"]) for x in lines],
                         [("spy", 200, "/v1/queues"), (None, 401, "/v1/jobs?key=%22%0A")])
        self.assertEqual(str(lines[0]["request"]), answer.headers["Readpast-Request"])
        self.assertNotIn(token.split("_")[2], "".join(text))

    def test_a_request_that_is_not_utf8_has_a_line_too(self):
        for target, logged in ((b"/v1/\xff", "/v1/?"),
                               (b"/" + "\u20ac".encode() * 200, "/" + "\u20ac" * 166)):
            with self.subTest(target=target):
                self.server.raw(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                                % target)
                self.server.get("/healthz", connection=self.server.connect())
                targets = []
                while "/healthz" not in targets:
                    line = json.loads(self.server.process.stdout.readline())
                    targets.append(line["target"])
                self.assertEqual(targets, [logged, "/healthz"])

    def test_a_log_that_nobody_reads_does_not_stop_the_server(self):
        own = Server(self.folder.name, "--access-log", "-")
        for _ in range(1000):
            self.assertEqual(own.get("/healthz").status, 200)
        self.assertGreater(own.metric("readpast_http_access_log_lines_lost_total"), 0)
        self.assertEqual(own.stop(), 0)

    def test_a_named_pipe_that_is_read_later_has_all_lines(self):
        path = pathlib.Path(self.folder.name) / "pipe"
        os.mkfifo(path)
        own = Server(self.folder.name, "--access-log", str(path))
        self.assertEqual(own.get("/healthz").status, 200)
        with open(path) as pipe:
            self.assertEqual(json.loads(pipe.readline())["target"], "/healthz")
            self.assertEqual(own.get("/v1/stats").status, 200)
            self.assertEqual(json.loads(pipe.readline())["target"], "/v1/stats")
        self.assertEqual(own.stop(), 0)

    def test_a_line_that_does_not_fit_on_the_disk_does_not_damage_the_next_line(self):
        path, begin = pathlib.Path(self.folder.name) / "log", 1 << 30
        path.touch()
        os.truncate(path, begin)
        own = Server(self.folder.name, "--access-log", str(path))
        self.assertEqual(own.get("/healthz").status, 200)
        self.assertTrue(eventually(5, lambda: path.stat().st_size > begin))
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        end = path.stat().st_size + 20
        resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (end, hard))
        self.assertEqual(own.get("/v1/stats").status, 200)
        self.assertTrue(eventually(5, lambda: path.stat().st_size == end))
        self.assertEqual(own.get("/v1/groups").status, 400)  # nothing of its line fits
        # The server writes a line before it handles the next request of the connection.
        # The line of this request is written when its stream has ended.
        own.connection.request("GET", "/v1/events")
        self.assertEqual(own.connection.getresponse().status, 200)
        resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        own.connection.close()
        for target in ("/readyz", "/v1/queues"):
            own.get(target)
        self.assertEqual(own.metric("readpast_http_access_log_lines_lost_total"), 2)
        self.assertEqual(own.stop(), 0)
        with open(path, "rb") as file:
            file.seek(begin)
            first, cut, *rest = file.read().splitlines()
        self.assertEqual(json.loads(first)["target"], "/healthz")
        self.assertEqual(len(cut), 20)
        targets = [json.loads(line)["target"] for line in rest]
        targets.remove("/v1/events")
        self.assertEqual(targets, ["/readyz", "/v1/queues", "/metrics"])

    def test_a_log_that_cannot_be_written_is_an_error(self):
        path = pathlib.Path(self.folder.name) / "missing" / "log"
        with self.assertRaisesRegex(AssertionError, "missing/log"):
            Server(self.folder.name, "--access-log", str(path))


if __name__ == "__main__":
    main()
