#!/usr/bin/python3
"""Test requests that wait: claims, the end of a job, and streams of events.

  polls.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import json
import signal
import socket
import sqlite3
import statistics
import threading
import time

from serving import KIND, Case, Server, eventually, forget_freed_memory, main


class Poll:
    """A claim that waits, on a connection of its own."""

    def __init__(self, server, *queues, **options):
        self.jobs = self.seconds = None
        self.server = server
        body = {"queues": list(queues), "wait": "10s", **options}
        self.thread = threading.Thread(target=self.run, args=(body,))
        self.thread.start()

    def run(self, body):
        connection = self.server.connect()
        began = time.monotonic()
        self.jobs = self.server.post("/v1/claim", body, connection=connection).json["jobs"]
        self.seconds = time.monotonic() - began
        connection.close()

    def join(self):
        self.thread.join(20)
        return self.jobs


@contextlib.contextmanager
def refused_claims(server):
    """Let the database refuse each claim of a job."""
    if KIND == "sqlite:":
        db = sqlite3.connect(server.url.removeprefix("sqlite:"), isolation_level=None)
        run, table = db.execute, "readpast_job"
        make = (f"create trigger refuse_claims before update on {table} "
                "begin select raise(abort, 'refused by the test'); end")
        drop = "drop trigger refuse_claims"
    else:
        import psycopg2
        url, schema = server.url.rsplit("schema=", 1)
        db = psycopg2.connect(url.rstrip("?&"))
        db.autocommit = True
        run, table = db.cursor().execute, f"{schema}.job"
        run(f"create or replace function {schema}.refuse_claims() returns trigger as $$ "
            "begin raise exception 'refused by the test'; end $$ language plpgsql")
        make = (f"create trigger refuse_claims before update on {table} "
                f"for each row execute function {schema}.refuse_claims()")
        drop = f"drop trigger refuse_claims on {table}"
    run(make)
    try:
        yield
    finally:
        run(drop)
        db.close()


class Claims(Case):
    def wait_for_claims(self, n):
        """Wait until so many claims wait."""
        self.assertTrue(eventually(20, lambda: self.server.waiting() == n))

    def test_a_claim_without_wait_answers_at_once_with_an_empty_list(self):
        self.server.ask("PUT", f"/v1/queues/{self.queue}")
        self.assertEqual(self.server.claim(self.queue), [])

    def test_a_claim_that_waits_gets_an_empty_list_when_the_wait_is_over(self):
        poll = Poll(self.server, self.queue, wait="500ms")
        self.assertEqual(poll.join(), [])
        self.assertGreater(poll.seconds, 0.45)
        self.assertLess(poll.seconds, 5)

    def test_a_claim_that_waits_gets_a_job_that_this_server_enqueues(self):
        poll = Poll(self.server, self.queue)
        self.wait_for_claims(1)
        began = time.monotonic()
        job = self.server.enqueue(self.queue, payload="now")
        self.assertEqual([(j["id"], j["payload"]) for j in poll.join()], [(job, "now")])
        self.assertLess(time.monotonic() - began, 2)

    def test_a_claim_that_waits_gets_a_job_that_another_process_enqueues(self):
        poll = Poll(self.server, self.queue)
        self.wait_for_claims(1)
        self.server.readpast("enqueue", self.queue, "other")
        began = time.monotonic()
        self.assertEqual([j["payload"] for j in poll.join()], ["other"])
        self.assertLess(time.monotonic() - began, 3)

    def test_a_claim_that_waits_is_registered_soon_after_its_queue_was_made(self):
        if KIND == "sqlite:":
            return  # only on PostgreSQL an enqueue notifies registered sessions
        with self.server.send_claim(self.queue):
            self.assertTrue(eventually(10, lambda: self.server.waiting() == 1))
            time.sleep(0.3)
            self.server.readpast("queue", "set", self.queue, "--lease", "1m")
            self.assertTrue(eventually(3.5, lambda: self.server.sql(
                "select 1 from {waiter} w join {queue} q on q.id = w.queue_id "
                f"where q.name = '{self.queue}'")))
        self.assertTrue(eventually(10, lambda: self.server.waiting() == 0))

    def test_a_claim_that_waits_gets_a_job_when_it_is_due(self):
        poll = Poll(self.server, self.queue)
        self.wait_for_claims(1)
        self.server.enqueue(self.queue, delay="700ms")
        self.assertEqual(len(poll.join()), 1)
        self.assertGreater(poll.seconds, 0.6)

    def test_a_claim_that_waits_for_several_queues_gets_a_job_of_the_second(self):
        poll = Poll(self.server, self.queue + "a", self.queue + "b")
        self.wait_for_claims(1)
        self.server.enqueue(self.queue + "b")
        self.assertEqual([j["queue"] for j in poll.join()], [self.queue + "b"])

    def test_claims_that_wait_are_served_in_the_order_in_which_they_came(self):
        sockets = []
        for number in range(5):
            sockets.append(self.server.send_claim(self.queue))
            self.wait_for_claims(number + 1)
        for expected in range(5):
            self.server.enqueue(self.queue, payload=str(expected))
            answer = sockets[expected].recv(65536)
            self.assertIn(b'"payload":"%d"' % expected, answer)
        for s in sockets:
            s.close()

    def test_one_batch_of_jobs_is_dealt_to_all_that_wait(self):
        polls = [Poll(self.server, self.queue, max=10) for _ in range(5)]
        self.wait_for_claims(5)
        self.server.post(f"/v1/queues/{self.queue}/jobs",
                         {"jobs": [{"payload": str(i)} for i in range(5)]})
        self.assertEqual([len(poll.join()) for poll in polls], [1] * 5)

    def test_many_claims_that_wait_get_one_job_each_and_no_job_twice(self):
        polls = [Poll(self.server, self.queue) for _ in range(60)]
        self.wait_for_claims(60)
        ids = [self.server.enqueue(self.queue) for _ in range(60)]
        got = [job["id"] for poll in polls for job in poll.join()]
        self.assertEqual(sorted(got), sorted(ids))

    def post_and_end(self, path, body, wait=lambda: None):
        """Send a request, call wait(), and end this side of the connection. Returns the
        status and the body of the answer. The status is None if there is no answer,
        because libmicrohttpd has seen the end before the answer."""
        data = json.dumps(body).encode()
        with socket.create_connection((self.server.host, self.server.port), timeout=20) as s:
            s.sendall(f"POST {path} HTTP/1.1\r\nHost: {self.server.host}:{self.server.port}"
                      f"\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
            wait()
            s.shutdown(socket.SHUT_WR)
            got = b""
            while more := s.recv(65536):
                got += more
        return int(got.split()[1]) if got else None, got.partition(b"\r\n\r\n")[2]

    def test_a_client_that_ends_its_side_of_the_connection_gets_no_job(self):
        job = self.server.enqueue(self.queue)
        for path, expected in (("/v1/claim", 408), ("/v1/settle-and-claim", 200)):
            for _ in range(5):
                status, body = self.post_and_end(path, {"queues": [self.queue]})
                self.assertIn(status, (expected, None))
                self.assertNotIn(b'"claim"', body)
                self.assertTrue(eventually(10, lambda: self.server.get(
                    f"/v1/jobs/{job}").json["state"] == "ready"))
        self.assertEqual([j["id"] for j in self.server.claim(self.queue)], [job])

    def test_verdicts_count_if_the_client_ends_its_side_during_the_wait(self):
        job = self.server.enqueue(self.queue, keep="1h")
        claim = self.server.claim(self.queue)[0]["claim"]
        status, body = self.post_and_end(
            "/v1/settle-and-claim", {"queues": ["none"], "wait": "10s", "verdicts": [
                {"claim": claim, "verdict": "done"}]},
            lambda: self.assertTrue(eventually(10, lambda: self.server.waiting() == 1)))
        self.assertIn(status, (200, None))
        if status:
            self.assertEqual(json.loads(body)["results"][0]["outcome"], "ok")
        self.assertEqual(self.server.get(f"/v1/jobs/{job}").json["state"], "done")

    def test_a_client_that_leaves_its_long_poll_gets_nothing(self):
        gone = [self.server.send_claim(self.queue) for _ in range(3)]
        self.wait_for_claims(3)
        for s in gone:
            s.close()
        self.wait_for_claims(0)
        job = self.server.enqueue(self.queue)
        jobs = self.server.claim(self.queue)
        self.assertEqual([(j["id"], j["attempt"]) for j in jobs], [(job, 1)])

    if KIND == "sqlite:":  # only SQLite has a lock that makes a claim wait
        def test_a_client_may_leave_while_its_request_claims(self):
            while True:
                due = time.monotonic() + 3
                job = self.server.enqueue(self.queue, delay="3s")
                gone = self.server.send_claim(self.queue)
                self.assertTrue(eventually(10, lambda: self.server.waiting() == 1))
                db = sqlite3.connect(self.server.url.removeprefix("sqlite:"),
                                     isolation_level=None)
                # Keep the write lock when the job becomes due, so that the claim has to
                # wait. A busy machine may be too late.
                db.execute("begin immediate")
                if time.monotonic() < due - 1:
                    break
                db.close()
                gone.close()
                self.queue += "-again"
            time.sleep(due - time.monotonic() + 0.5)
            gone.close()
            time.sleep(0.5)
            db.execute("commit")
            db.close()
            jobs = Poll(self.server, self.queue).join()
            self.assertEqual([(j["id"], j["attempt"]) for j in jobs], [(job, 1)])

    def test_the_next_client_gets_the_job_of_one_that_left(self):
        gone = self.server.send_claim(self.queue)
        self.wait_for_claims(1)
        poll = Poll(self.server, self.queue)
        self.wait_for_claims(2)
        gone.close()
        job = self.server.enqueue(self.queue)
        self.assertEqual([j["id"] for j in poll.join()], [job])

    def test_verdicts_before_a_claim_that_waits_are_given_once_and_at_once(self):
        job = self.server.enqueue(self.queue)
        claim = self.server.claim(self.queue)[0]["claim"]
        answers = []
        body = {"verdicts": [{"claim": claim, "verdict": "done"}],
                "queues": [self.queue], "wait": "10s"}

        def turn():
            answers.append(self.server.post("/v1/settle-and-claim", body,
                                            connection=self.server.connect()).json)

        thread = threading.Thread(target=turn)
        thread.start()
        path = f"/v1/jobs/{job}/outcome"
        self.assertTrue(eventually(5, lambda: self.server.get(path).json["ended"]))
        second = self.server.enqueue(self.queue)
        thread.join(20)
        self.assertEqual(answers[0]["results"],
                         [{"id": job, "outcome": "ok", "state": "done"}])
        self.assertEqual([j["id"] for j in answers[0]["jobs"]], [second])

    def end_claim_with_an_error(self, verdicts):
        """Return the answer to verdicts and a claim that waits, if the claim of the next
        job fails."""
        wait = self.server.connect()
        wait.request("POST", "/v1/settle-and-claim", json.dumps(
            {"queues": [self.queue], "wait": "10s", "verdicts": verdicts}))
        self.assertTrue(eventually(10, lambda: self.server.waiting() == 1))
        with refused_claims(self.server):
            self.server.enqueue(self.queue)
            answer = wait.getresponse()
            found = answer.status, json.loads(answer.read())
        wait.close()
        return found

    def test_the_results_of_verdicts_are_not_lost_if_the_claim_after_them_fails(self):
        job = self.server.enqueue(self.queue)
        claim = self.server.claim(self.queue)[0]["claim"]
        found = self.end_claim_with_an_error([{"claim": claim, "verdict": "done"}])
        self.assertEqual(found, (200, {
            "results": [{"id": job, "outcome": "ok", "state": "done"}], "jobs": []}))

    def test_a_claim_that_fails_without_verdicts_is_answered_with_the_error(self):
        status, problem = self.end_claim_with_an_error([])
        self.assertEqual((status, problem["outcome"]), (500, "none"))

    def test_a_claim_that_gets_no_job_is_answered_soon_after_its_wait(self):
        times = []
        for _ in range(9):
            poll = Poll(self.server, self.queue, wait="20ms")
            self.assertEqual(poll.join(), [])
            times.append(poll.seconds)
        # The server looks ten times a second for waits that have ended. Each call but
        # the first begins just after that. On a busy machine only some are quick.
        self.assertLess(min(times[1:]), 0.16, times)


class Two(Case):
    """Two servers on one database."""

    def setUp(self):
        super().setUp()
        self.other = Server(self.folder.name, url=self.server.url)
        self.other.ask("PUT", f"/v1/queues/{self.queue}", {})

    def tearDown(self):
        self.assertEqual(self.other.stop(), 0)

    def delay(self, polls, enqueues, has_waited=False):
        """Return how many seconds a claim that waits at the server `polls` waits for a
        job that the server `enqueues` gets. The pause is longer than the time for which
        a server polls after it has registered."""
        poll = Poll(polls, self.queue)
        self.assertTrue(eventually(10, lambda: polls.waiting() == 1))
        time.sleep(0.5)
        if has_waited:
            self.assertEqual(enqueues.claim(self.queue, wait="20ms"), [])
        job = enqueues.enqueue(self.queue)
        began = time.monotonic()
        self.assertEqual([j["id"] for j in poll.join()], [job])
        return time.monotonic() - began

    def check_delays(self, delays):
        """Check that most delays are short. Without notifications, most would be much
        longer, because each server looks for jobs only once a second."""
        self.assertLess(statistics.median(delays), 0.2, delays)

    def test_a_claim_that_waits_soon_gets_a_job_that_another_server_enqueues(self):
        self.check_delays([self.delay(self.server, self.other) for _ in range(9)])

    def test_a_server_without_waiting_claims_leaves_jobs_to_another_server(self):
        pairs = [(self.server, self.other), (self.other, self.server)] * 5
        self.check_delays([self.delay(*pair, has_waited=True) for pair in pairs])

    def test_a_server_whose_claims_wait_is_not_listed_as_a_worker(self):
        poll = Poll(self.server, self.queue)
        self.assertTrue(eventually(10, lambda: self.server.waiting() == 1))
        self.assertEqual(self.other.get("/v1/workers").json["workers"], [])
        self.assertEqual(self.other.get("/v1/stats").json["queues"][0]["workers"], 0)
        self.other.enqueue(self.queue)
        self.assertEqual(len(poll.join()), 1)

    def test_a_server_that_was_killed_does_not_delay_the_jobs_of_others(self):
        killed = Server(self.folder.name, url=self.server.url)
        poll = Poll(self.server, self.queue)
        client = killed.send_claim(self.queue)
        self.assertTrue(eventually(10, lambda: killed.waiting() == 1))
        time.sleep(0.2)
        killed.stop(signal.SIGKILL)
        client.close()
        began = time.monotonic()
        job = self.other.enqueue(self.queue)
        self.assertEqual([j["id"] for j in poll.join()], [job])
        self.assertLess(time.monotonic() - began, 5)


class Outcomes(Case):
    def test_the_end_of_a_job_ends_the_wait_for_its_outcome(self):
        self.server.ask("PUT", f"/v1/queues/{self.queue}", {"keep_done": "1h"})
        job = self.server.enqueue(self.queue)
        claim = self.server.claim(self.queue)[0]["claim"]
        answers = []

        def wait():
            began = time.monotonic()
            answer = self.server.get(f"/v1/jobs/{job}/outcome?wait=20s",
                                     connection=self.server.connect(30))
            answers.append((answer.json, time.monotonic() - began))

        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        self.server.post("/v1/verdicts", {"verdicts": [
            {"claim": claim, "verdict": "done", "result": {"n": 1}}]})
        for thread in threads:
            thread.join(30)
        for answer, seconds in answers:
            self.assertEqual((answer["ended"], answer["state"], answer["result"]),
                             (True, "done", '{"n":1}'))
            self.assertLess(seconds, 10)
        self.assertEqual(len(answers), 3)

    def test_a_job_whose_queue_is_dropped_during_the_wait_is_cancelled(self):
        job = self.server.enqueue(self.queue, delay="1h")
        wait = self.server.connect()
        wait.request("GET", f"/v1/jobs/{job}/outcome?wait=20s")
        waiting = 'readpast_http_waiting{for="outcome"}'
        self.assertTrue(eventually(10, lambda: self.server.metric(waiting) == 1))
        time.sleep(0.5)  # until the server has read the live job
        self.server.ask("DELETE", f"/v1/queues/{self.queue}")
        answer = json.loads(wait.getresponse().read())
        wait.close()
        self.assertEqual((answer["ended"], answer["state"], answer["kept"]),
                         (True, "cancelled", False))

    if KIND != "sqlite:":  # only a server has a lock that makes reads of a job wait
        def test_a_job_that_ends_while_its_outcome_is_read_has_ended(self):
            self.server.ask("PUT", f"/v1/queues/{self.queue}", {"keep_dead": "1h"})
            job = self.server.enqueue(self.queue)
            # The library reads the table of workers with a job, not with an outcome.
            answer = self.server.ask_during(
                ["lock table {worker}", f"select {{cancel}}({job})"],
                "GET", f"/v1/jobs/{job}/outcome").json
            self.assertEqual((answer["ended"], answer["state"], answer["kept"]),
                             (True, "cancelled", True))

    def test_a_job_that_does_not_end_is_reported_when_the_wait_is_over(self):
        job = self.server.enqueue(self.queue)
        answer = self.server.get(f"/v1/jobs/{job}/outcome?wait=300ms").json
        self.assertEqual((answer["ended"], answer["state"]), (False, "ready"))

    def test_the_outcome_of_a_job_that_was_never_enqueued_is_404(self):
        self.refused(self.server.get("/v1/jobs/987654321/outcome?wait=5s"), 404)


class Stream:
    """A stream of events."""

    def __init__(self, server, path="/v1/events"):
        self.connection = server.connect()
        self.connection.request("GET", path)
        self.response = self.connection.getresponse()
        assert self.response.headers["Content-Type"] == "text/event-stream"

    def read(self):
        """Wait for the next event, and return its data."""
        while True:
            line = self.response.readline()
            if line.startswith(b"data: "):
                return json.loads(line[6:])

    def close(self):
        self.response.close()
        self.connection.close()


def read_events(server, path, n):
    """Read n events of a stream."""
    stream = Stream(server, path)
    events = [stream.read() for _ in range(n)]
    stream.close()
    return events


class Events(Case):
    def test_a_stream_has_the_numbers_of_all_queues_once_a_second(self):
        self.server.enqueue(self.queue)
        began = time.monotonic()
        events = read_events(self.server, "/v1/events", 4)
        self.assertGreater(time.monotonic() - began, 1.5)
        for event in events[1:]:  # the first may be older than the job
            numbers = {q["queue"]: q for q in event["queues"]}
            self.assertEqual(numbers[self.queue]["ready"], 1)
            self.assertRegex(event["at"], r"^\d{4}-.*\.\d{3}Z$")

    def test_a_stream_has_only_the_queues_that_were_asked_for(self):
        for name in ("one", "two", "three"):
            self.server.enqueue(name)
        events = read_events(self.server, "/v1/events?queues=one,three", 2)
        self.assertEqual([q["queue"] for q in events[1]["queues"]], ["one", "three"])


    def test_new_streams_get_the_numbers_at_once_but_they_are_read_once_a_second(self):
        old = Stream(self.server)
        old.read()
        began = time.monotonic()
        seen = {read_events(self.server, "/v1/events", 1)[0]["at"] for _ in range(100)}
        seconds = time.monotonic() - began
        self.assertLess(len(seen), seconds + 2)
        self.assertLess(seconds, 10)
        last = ""
        while last < max(seen):
            event = old.read()
            self.assertGreater(event["at"], last)  # none is sent twice
            last = event["at"]
        old.close()


class LargeEvents(Case):
    options = ("--time", "4s")

    @classmethod
    def setUpClass(cls):
        forget_freed_memory()
        super().setUpClass()
        for i in range(1000):
            path = f"/v1/queues/{i:0128}"
            cls.server.ask("PUT", path)
            assert cls.server.post(path + "/pause", {"reason": "x" * 255}).status == 200

    def test_the_stream_of_a_client_that_reads_nothing_ends(self):
        def streams():
            return self.server.metric('readpast_http_waiting{for="events"}',
                                      connection=self.server.connect())

        with socket.socket() as stuck:
            stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stuck.connect((self.server.host, self.server.port))
            stuck.sendall(f"GET /v1/events HTTP/1.1\r\nHost: {self.server.host}:"
                          f"{self.server.port}\r\n\r\n".encode())
            self.assertTrue(eventually(10, lambda: streams() == 1))
            self.assertTrue(eventually(20, lambda: streams() == 0))

    def test_an_event_about_very_many_queues_is_complete(self):
        for event in read_events(self.server, "/v1/events", 2):
            self.assertEqual(len(event["queues"]), 1000)

    def test_clients_that_read_slowly_do_not_use_more_and_more_memory(self):
        slow = [socket.socket() for _ in range(4)]
        for one in slow:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(20)
            one.connect((self.server.host, self.server.port))
            one.sendall(f"GET /v1/events HTTP/1.1\r\nHost: {self.server.host}:"
                        f"{self.server.port}\r\n\r\n".encode())
        quick = Stream(self.server)
        before = None
        for i in range(18):
            event = quick.read()
            for one in slow:
                # First fill the buffers of the kernel.
                left = len(json.dumps(event)) // (10 if i < 6 else 2)
                while left > 0:
                    left -= len(one.recv(left))
            if i == 8:
                before = self.server.memory()
        self.assertLess(self.server.memory() - before, 4 << 20)
        for one in (*slow, quick):
            one.close()


class Ends(Case):
    def setUp(self):
        super().setUp()
        self.own = Server(self.folder.name)

    def test_a_server_that_is_told_to_end_answers_all_that_wait(self):
        poll = Poll(self.own, self.queue)
        stream = self.own.connect()
        stream.request("GET", "/v1/events")
        stream.getresponse()
        self.assertTrue(eventually(20, lambda: self.own.waiting() == 1))
        began = time.monotonic()
        self.assertEqual(self.own.stop(), 0)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(poll.join(), [])
        self.assertLess(poll.seconds, 5)
        stream.close()


if __name__ == "__main__":
    main()
