#!/usr/bin/env python3
"""Test clients that give a worker's name with their claims.

  clients.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import json
import pathlib
import signal
import socket
import time

import psycopg2
from serving import KIND, Case, Server, eventually, main


def commits(own):
    """Return how many commits the write-ahead log has: how many of its frames have a size
    of the database after a commit."""
    log = pathlib.Path(own.url.removeprefix("sqlite:") + "-wal").read_bytes()
    page, salt = int.from_bytes(log[8:12], "big"), log[16:24]
    return sum(log[i + 8:i + 16] == salt and log[i + 4:i + 8] != bytes(4)
               for i in range(32, len(log), page + 24))


class Clients(Case):
    def workers(self, server=None):
        """Return the listed workers by name."""
        listed = (server or self.server).get("/v1/workers").json["workers"]
        names = [worker["name"] for worker in listed]
        self.assertEqual(len(names), len(set(names)), listed)
        return dict(zip(names, listed))

    def test_a_client_is_listed_with_its_queues_and_how_many_jobs_it_holds(self):
        self.server.enqueue(self.queue)
        self.server.claim(self.queue, self.queue, worker="amy")
        self.server.claim("another", worker="amy")
        amy = self.workers()["amy"]
        self.assertEqual(amy["queues"], [self.queue, "another"])
        self.assertEqual((amy["running"], amy["host"], amy["pid"]),
                         (1, socket.gethostname(), self.server.process.pid))
        self.assertNotIn("another", self.server.get("/v1/queues").bytes.decode())

    def test_jobs_show_the_name_and_so_does_the_failure_if_the_lease_runs_out(self):
        job = self.server.enqueue(self.queue)
        claimed = self.server.claim(self.queue, worker="bob", lease="50ms")
        self.assertEqual(claimed[0]["worker"], "bob")
        found = self.server.get(f"/v1/jobs/{job}").json
        self.assertEqual(found["worker"], "bob")
        self.assertTrue(eventually(10, lambda: self.server.get(f"/v1/jobs/{job}").json[
            "failures"]))
        found = self.server.get(f"/v1/jobs/{job}").json
        self.assertEqual(found["failures"][0]["worker"], "bob")

    def test_each_of_several_clients_gets_its_own_jobs(self):
        jobs = [self.server.enqueue(self.queue) for _ in range(20)]
        clients = [self.server.connect() for _ in jobs]
        for i, client in enumerate(clients):
            client.request("POST", "/v1/claim", json.dumps(
                {"queues": [self.queue], "worker": f"c{i % 5}"}))
        for client in clients:
            job = json.loads(client.getresponse().read())["jobs"][0]
            client.close()
            self.assertIn(job["id"], jobs)
        listed = self.workers()
        self.assertEqual([listed[f"c{i}"]["running"] for i in range(5)], [4] * 5)

    def test_settle_and_claim_has_the_name_too(self):
        self.server.post("/v1/settle-and-claim", {"queues": [self.queue], "worker": "cat"})
        self.assertEqual(self.workers()["cat"]["queues"], [self.queue])

    def test_verdicts_are_counted_for_the_client_that_had_the_job(self):
        """Also if the request with the verdict has no name, or the name of another."""
        verdicts = ("done", "done", "fail", "dead", "release", "extend")
        for _ in verdicts:
            self.server.enqueue(self.queue)
        jobs = self.server.claim(self.queue, worker="jan", max=len(verdicts))
        given = [{"claim": job["claim"], "verdict": verdict}
                 for job, verdict in zip(jobs, verdicts)]
        self.server.post("/v1/verdicts", {"verdicts": given[:1]})
        self.server.post("/v1/settle-and-claim", {
            "queues": [self.queue + "x"], "worker": "kim", "verdicts": given[1:]})
        self.server.post("/v1/verdicts", {"verdicts": given})  # refused, not counted again
        counts = lambda: [self.workers()["jan"][key]
                          for key in ("done", "failed", "dead", "released", "running")]
        self.assertTrue(eventually(10, lambda: counts() == [2, 1, 1, 1, 1]), counts())
        self.assertEqual(self.workers()["kim"]["done"], 0)

    def test_a_client_without_a_name_is_not_listed(self):
        self.server.enqueue(self.queue)
        self.assertEqual(len(self.server.claim(self.queue)), 1)
        self.assertNotIn([self.queue], [w["queues"] for w in self.workers().values()])

    if KIND == "sqlite:":

        def test_the_heartbeats_of_many_clients_need_few_commits(self):
            """A commit for each would delay all writes of the server."""
            own = Server(self.folder.name)
            for i in range(40):
                own.claim("none", worker=f"w{i}")
            time.sleep(6)
            before = commits(own)
            for i in range(40):
                own.claim("none", worker=f"w{i}")
            self.assertTrue(eventually(5, lambda: all(
                worker["silent_ms"] < 5000 for worker in self.workers(own).values())))
            self.assertIn(commits(own) - before, range(1, 10))
            self.assertEqual(len(self.workers(own)), 40)
            own.stop()

    def test_when_a_client_is_heard_from_and_when_it_is_gone(self):
        """The server hears from `eve` while her claim waits. It hears nothing from `fay`
        and `ida` for half a minute. Then `ida` extends a lease. Another server hears
        nothing from any of its 40 clients."""
        own = Server(self.folder.name)
        for i in range(40):
            own.claim("none", worker=f"w{i}")
        self.server.enqueue(self.queue)
        claim = self.server.claim(self.queue, worker="ida", lease="10m")[0]["claim"]
        self.server.claim(self.queue, worker="fay")
        waiting = self.server.connect(timeout=70)
        waiting.request("POST", "/v1/claim", json.dumps(
            {"queues": [self.queue], "worker": "eve", "wait": "60s"}))
        self.assertTrue(eventually(10, lambda: "eve" in self.workers()))
        ida = self.workers()["ida"]["id"]
        longest = 0
        end = time.monotonic() + 31
        while time.monotonic() < end:
            listed = self.workers()
            longest = max([longest, *(one["silent_ms"] for one in listed.values())])
            if KIND == "sqlite:" and len(self.workers(own)) == 40:
                before = commits(own)
            time.sleep(0.5)
        self.assertEqual(self.workers(own), {})
        if KIND == "sqlite:":  # a commit for each would delay other work of the server
            self.assertIn(commits(own) - before, range(1, 10))
        own.stop()
        self.assertGreater(listed["eve"]["silent_ms"], 5000)  # not at each look
        self.assertLess(listed["eve"]["silent_ms"], 20000)
        self.assertLess(longest, 30000)  # doctor reports no client as silent
        self.assertFalse({"fay", "ida"} & set(listed))
        self.server.post("/v1/verdicts", {"verdicts": [
            {"claim": claim, "verdict": "extend", "lease": "1m"}]})
        found = self.workers()["ida"]
        self.assertEqual((found["id"], found["running"]), (ida, 1))
        self.server.claim("other", worker="ida")
        self.assertEqual(self.workers()["ida"]["id"], ida)
        waiting.close()


class Ends(Case):
    workers = Clients.workers

    def test_a_server_that_ends_unregisters_its_clients(self):
        server = Server(self.folder.name, url=self.server.url)
        server.claim(self.queue, worker="gus")
        self.assertIn("gus", self.workers())
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("gus", self.workers())

    if KIND == "sqlite:":

        def test_a_server_that_ends_unregisters_its_clients_in_one_commit(self):
            """Otherwise many clients and a slow disk would take longer than the time that
            the server has to end."""
            own = Server(self.folder.name)
            # As long as this connection is open, the log is not deleted.
            with contextlib.closing(own.sqlite()) as db:
                db.execute("select * from readpast_worker")
                for i in range(40):
                    own.claim("none", worker=f"w{i}")
                before = commits(own)
                self.assertEqual(own.stop(), 0)
                self.assertIn(commits(own) - before, range(1, 10))
                row = db.execute("select max(stopped_at is null) from readpast_worker")
                self.assertEqual(row.fetchone()[0], 0)

    def test_a_client_of_a_server_that_was_killed_is_listed_only_for_the_next(self):
        server = Server(self.folder.name, url=self.server.url)
        for name in ("ivy", "joy", "kay"):
            server.claim(self.queue, worker=name)
        server.stop(signal.SIGKILL)
        after = Server(self.folder.name, url=self.server.url)
        # as if the new process had got the id of the old one
        after.sql(f"update {{worker}} set pid = {after.process.pid} where name = 'kay'")
        for name in ("ivy", "kay"):
            after.claim(self.queue, worker=name)
        listed = self.workers()  # each name once
        self.assertEqual(listed["ivy"]["pid"], after.process.pid)
        self.assertEqual(listed["joy"]["pid"], server.process.pid)
        after.stop()

    def test_a_client_of_two_servers_is_listed_for_each(self):
        server = Server(self.folder.name, url=self.server.url)
        for one in (server, self.server):
            one.claim(self.queue, worker="hal")
        listed = self.server.get("/v1/workers").json["workers"]
        self.assertEqual({worker["pid"] for worker in listed if worker["name"] == "hal"},
                         {server.process.pid, self.server.process.pid})
        server.stop()
        self.assertEqual(self.workers()["hal"]["pid"], self.server.process.pid)


if KIND == "postgres:":
    class Locks(Case):
        """Another client has locked a job's row in a transaction that stays open."""

        def setUp(self):
            super().setUp()
            self.job = self.server.enqueue(self.queue)
            self.claimed = self.server.claim(self.queue)[0]
            url, self.schema = self.server.url.rsplit("schema=", 1)
            self.db = psycopg2.connect(url.rstrip("?&"))
            self.db.cursor().execute(f"select id from {self.schema}.job where id = %s for update",
                                     [self.job])

        def tearDown(self):
            self.db.close()

        def test_only_the_verdict_on_this_job_fails(self):
            stuck = self.server.connect()
            stuck.request("POST", "/v1/verdicts", json.dumps(
                {"verdicts": [{"claim": self.claimed["claim"], "verdict": "done"}]}))
            for _ in range(20):
                self.server.enqueue(self.queue)
                self.assertEqual(len(self.server.claim(self.queue, worker="joe")), 1)
            answer = stuck.getresponse()
            problem = json.loads(answer.read())
            stuck.close()
            self.assertEqual((answer.status, problem["type"], problem["retry"]),
                             (503, "urn:readpast:error:busy", True))
            self.assertIn("has locked a row", problem["detail"])

        def test_others_do_not_wait_for_each_of_many_verdicts_on_locked_jobs(self):
            jobs = [self.server.enqueue(self.queue) for _ in range(40)]
            claims = [self.server.claim(self.queue)[0]["claim"] for _ in jobs]
            cursor = self.db.cursor()
            cursor.execute(f"select id from {self.schema}.job for update")
            stuck = [self.server.connect() for _ in claims]
            for one, claim in zip(stuck, claims):
                one.request("POST", "/v1/verdicts", json.dumps(
                    {"verdicts": [{"claim": claim, "verdict": "extend", "lease": "1m"}]}))
            began = time.monotonic()
            self.server.enqueue(self.queue)
            self.assertLess(time.monotonic() - began, 2)
            self.assertEqual({one.getresponse().status for one in stuck}, {503})
            for one in stuck:
                one.close()

        def test_a_bulk_change_counts_no_job_of_a_commit_that_failed(self):
            jobs = [self.server.enqueue(self.queue) for _ in range(3)]
            self.db.cursor().execute(f"select id from {self.schema}.job where id = %s for update",
                                     [jobs[1]])
            problem = self.server.post(f"/v1/queues/{self.queue}/cancel", {})
            self.assertEqual((problem.status, problem.json["outcome"]), (503, "none"))
            self.assertIn("has locked a row", problem.json["detail"])
            self.assertEqual(self.server.get(f"/v1/jobs/{jobs[0]}").json["state"], "ready")

        def test_readers_go_on_beside_many_cancels_of_this_job(self):
            stuck = [self.server.connect() for _ in range(8)]
            for one in stuck:
                one.request("POST", f"/v1/jobs/{self.job}/cancel")
            self.assertEqual(self.server.get("/v1/stats").status, 200)
            self.assertEqual({one.getresponse().status for one in stuck}, {503})
            for one in stuck:
                one.close()


if __name__ == "__main__":
    main()
