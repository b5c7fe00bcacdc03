#!/usr/bin/python3
"""Test requests whose writes share a commit: each gets what it would get alone.

  together.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import hashlib
import json
import sqlite3
import time

from serving import KIND, Answer, Case, eventually, main

BUSY = "/v1/queues/busy/jobs", {"payload": "x", "kind": "busy"}


class Counts(Case):
    def test_finished_jobs_are_counted_although_no_request_follows(self):
        def counts(*names):
            stats = self.server.get(f"/v1/stats?queue={self.queue}").json["queues"][0]
            return [stats[name] for name in names]
        for _ in range(30):
            self.server.enqueue(self.queue)
        jobs = self.server.claim(self.queue, max=30)
        for job in jobs[:28]:
            self.server.post("/v1/verdicts", {"verdicts": [
                {"claim": job["claim"], "verdict": "done"}]})
        for job in jobs[28:]:
            self.server.post("/v1/verdicts", {"verdicts": [
                {"claim": job["claim"], "verdict": "fail"}]})
        wanted = [28, 2, 2.8, 0.2]
        self.assertTrue(eventually(3, lambda: counts(
            "done_total", "failed_total", "done_per_s", "failed_per_s") == wanted))


class Together(Case):
    """Requests that come while the server's writer is busy share the next commit."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if KIND == "sqlite:":
            return
        import psycopg2
        url, schema = cls.server.url.rsplit("schema=", 1)
        cls.db = psycopg2.connect(url.rstrip("?&"))
        cls.db.autocommit = True
        cls.schema = schema
        # An enqueue of a job of the kind "busy" or "late" does not end while the test
        # has the lock of this name. It does not wait for the lock, because such a wait
        # is limited.
        cls.run_sql(f"""
            create function {schema}.wait_for_test() returns trigger as $$ begin
                while not pg_try_advisory_xact_lock(hashtext('{schema}'),
                                                    hashtext(new.kind)) loop
                    perform pg_sleep(0.01);
                end loop;
                return new;
            end $$ language plpgsql;
            create trigger wait_for_test before insert on {schema}.job for each row
                when (new.kind in ('busy', 'late'))
                execute function {schema}.wait_for_test()""")

    @classmethod
    def tearDownClass(cls):
        if KIND != "sqlite:":
            cls.db.close()
        super().tearDownClass()

    @classmethod
    def run_sql(cls, text):
        cls.db.cursor().execute(text)

    @contextlib.contextmanager
    def locked(self, kind):
        """Let the database wait before it stores a job of this kind. SQLite waits with
        every write."""
        if KIND == "sqlite:":
            db = sqlite3.connect(self.server.url.removeprefix("sqlite:"),
                                 isolation_level=None)
            db.execute("begin immediate")
        else:
            lock = f"(hashtext('{self.schema}'), hashtext('{kind}'))"
            self.run_sql(f"select pg_advisory_lock{lock}")
        try:
            yield
        finally:
            if KIND == "sqlite:":
                db.execute("commit")
                db.close()
            else:
                self.run_sql(f"select pg_advisory_unlock{lock}")

    def commits(self):
        return self.server.metric("readpast_http_commits_total")

    def send(self, path, body, headers={}):
        """Send a request. Returns the connection, from which the answer can be read."""
        connection = self.server.connect()
        body = json.dumps(body)
        connection.request("POST", path, body, {"Content-Type": "application/json",
                                                **headers})
        time.sleep(0.1 + len(body) / 1e7)  # until the server has read it
        self.server.wait_until_read()
        return connection

    def read(self, connection):
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def ask_together(self, *requests, commits=1):
        """Send requests, in this order, while the writer is busy. Check that they take
        this number of commits, and return their answers."""
        before = self.commits()
        with self.locked("busy"):
            connections = [self.send(*request) for request in (BUSY, *requests)]
        answers = [self.read(connection) for connection in connections]
        self.assertEqual(self.commits() - before, 1 + commits)
        return answers[1:]

    def test_one_job_that_is_refused_keeps_no_other_job_out(self):
        self.server.enqueue(self.queue)
        self.server.ask("PATCH", f"/v1/queues/{self.queue}", {"max_payload": 1024})
        answers = self.ask_together(*[
            (f"/v1/queues/{self.queue}/jobs", {"payload": "x" * (2000 if i == 1 else 9)})
            for i in range(9)])
        self.assertEqual([a.status for a in answers],
                         [413 if i == 1 else 201 for i in range(9)])
        ids = {a.json["id"] for a in answers if a.status == 201}
        jobs = self.server.claim(self.queue, max=99)
        self.assertEqual({job["id"] for job in jobs[1:]}, ids)

    def test_each_of_many_turns_gets_its_result_and_its_job(self):
        for _ in range(18):
            self.server.enqueue(self.queue)
        claims = [job["claim"] for job in self.server.claim(self.queue, max=9)]
        claims[5] = claims[4]
        answers = self.ask_together(*[
            ("/v1/settle-and-claim", {"verdicts": [{"claim": claim, "verdict": "done"}],
                                      "queues": [self.queue]})
            for claim in claims])
        outcomes = [a.json["results"][0]["outcome"] for a in answers]
        self.assertEqual(sorted(outcomes), ["gone"] + ["ok"] * 8)
        self.assertEqual(len({a.json["jobs"][0]["id"] for a in answers}), 9)
        stats = self.server.get(f"/v1/stats?queue={self.queue}").json["queues"][0]
        self.assertEqual((stats["ready"], stats["running"]), (0, 10))

    def verdict(self, claim, verdict, path="/v1/verdicts", **fields):
        return path, {"verdicts": [{"claim": claim, "verdict": verdict}], **fields}

    def outcomes(self, *requests):
        """Return the outcome and the state of the first verdict of each request."""
        return [tuple(a.json["results"][0][name] for name in ("outcome", "state"))
                for a in self.ask_together(*requests)]

    def test_a_job_is_done_although_another_request_has_just_extended_its_lease(self):
        for _ in range(3):
            self.server.enqueue(self.queue)
        first, second, third = [j["claim"] for j in self.server.claim(self.queue, max=3)]
        self.assertEqual(
            self.outcomes(self.verdict(first, "extend"), self.verdict(second, "done"),
                          self.verdict(first, "done"), self.verdict(first, "extend"),
                          self.verdict(first, "done")),
            [("ok", "running"), ("ok", "done"), ("ok", "done"), ("gone", None),
             ("gone", None)])
        claims = {"path": "/v1/settle-and-claim", "queues": [self.queue]}
        self.assertEqual(
            self.outcomes(self.verdict(third, "extend", **claims),
                          self.verdict(third, "release", **claims)),
            [("ok", "running"), ("ok", "ready")])
        stats = self.server.get(f"/v1/stats?queue={self.queue}").json["queues"][0]
        self.assertEqual((stats["ready"], stats["running"]), (0, 1))

    def claims_with_suspects(self, queue, *others):
        """Let two jobs become suspects, and add three jobs. Return how many jobs each of
        four claims gets that share a commit with these other requests."""
        for _ in range(2):
            self.server.enqueue(queue, max_attempts=2)
        self.assertEqual(len(self.server.claim(queue, max=2, lease="1ms")), 2)
        time.sleep(0.1)
        self.server.readpast("sweep")
        for _ in range(3):
            self.server.enqueue(queue)
        claims = [("/v1/claim", {"queues": [queue], "max": 2})] * 4
        answers = self.ask_together(*claims, *others)[:4]
        found = [[job["id"] for job in a.json["jobs"]] for a in answers]
        self.assertEqual(len(set(sum(found, []))), 5)
        return [len(ids) for ids in found]

    def test_a_suspect_keeps_no_job_from_the_other_claims(self):
        self.assertEqual(self.claims_with_suspects(self.queue), [1, 1, 2, 1])
        other = f"/v1/queues/{self.queue}/jobs", {"payload": "x", "delay": "1h"}
        self.assertEqual(self.claims_with_suspects("mixed", other), [1, 1, 2, 1])

    def test_a_commit_has_a_limited_number_of_bytes(self):
        sizes = 3, 3, 3, 9, 3
        answers = self.ask_together(*[
            (f"/v1/queues/{self.queue}/jobs", {"payload": "x" * (size << 20)})
            for size in sizes], commits=4)
        self.assertEqual([a.status for a in answers], [201] * 5)

    if KIND != "sqlite:":  # on SQLite another server cannot write in this moment

        def test_a_key_that_another_server_has_just_stored_fails_no_other_request(self):
            path, key = f"/v1/queues/{self.queue}/jobs", {"Idempotency-Key": "k"}
            name = hashlib.sha256(f"\n{self.queue}\nk".encode()).hexdigest()
            with self.locked("late"):
                with self.locked("busy"):
                    connections = [self.send(*request) for request in (
                        BUSY, (path, {"payload": "x", "kind": "late"}, key),
                        (path, {"payload": "y"}))]
                self.assertEqual(self.read(connections[0]).status, 201)
                time.sleep(0.5)  # until the job of the kind "late" waits for its lock
                self.run_sql(f"insert into {self.schema}.answer values "
                             f"('{name}', 'x', 'y', now() + interval '1 hour')")
            answers = [self.read(connection) for connection in connections[1:]]
            self.assertEqual([a.status for a in answers], [422, 201], answers)
            self.assertEqual(len(self.server.claim(self.queue, max=9)), 1)

        def test_a_connection_that_is_lost_before_the_commit_has_changed_nothing(self):
            self.run_sql(f"""
                create function {self.schema}.end_session() returns trigger as $$ begin
                    perform pg_terminate_backend(pg_backend_pid());
                    return new;
                end $$ language plpgsql;
                create trigger end_session before insert on {self.schema}.job
                    for each row when (new.kind = 'lost')
                    execute function {self.schema}.end_session()""")
            job = f"/v1/queues/{self.queue}/jobs", {"payload": "x", "kind": "lost"}
            try:
                alone = self.server.post(*job)
                first = self.server.post(*job, headers={"Idempotency-Key": "lost"})
            finally:
                self.run_sql(f"drop trigger end_session on {self.schema}.job")
            # The first request is one statement, which commits. The second is several.
            problem = self.refused(alone, 502, "outcome unknown: ")
            self.assertEqual(problem["outcome"], "unknown")
            problem = self.refused(first, 502, "connection lost, nothing was changed: ")
            self.assertEqual(problem["outcome"], "none")

        def test_verdicts_that_were_committed_are_not_answered_with_an_error(self):
            for _ in range(3):
                self.server.enqueue(self.queue)
            claims = [job["claim"] for job in self.server.claim(self.queue, max=2)]
            self.run_sql(f"""
                create function {self.schema}.refuse_claims() returns trigger as $$ begin
                    raise exception 'refused by the test' using errcode = 'RP003';
                end $$ language plpgsql;
                create trigger refuse_claims before update on {self.schema}.job
                    for each row when (new.attempt > old.attempt)
                    execute function {self.schema}.refuse_claims()""")
            try:
                requests = [("/v1/settle-and-claim", {
                    "queues": [self.queue],
                    "verdicts": [{"claim": claim, "verdict": "done"}]}) for claim in claims]
                answers = self.ask_together(*requests, (
                    "/v1/claim", {"queues": [self.queue]}))
            finally:
                self.run_sql(f"drop trigger refuse_claims on {self.schema}.job")
            self.assertEqual([a.status for a in answers], [200, 200, 400], answers)
            for answer in answers[:2]:
                self.assertEqual(answer.json["results"][0]["outcome"], "ok")
                self.assertEqual(answer.json["jobs"], [])
            self.assertEqual(len(self.server.claim(self.queue)), 1)


if __name__ == "__main__":
    main()
