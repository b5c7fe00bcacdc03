#!/usr/bin/env python3
"""Test that a server that is killed under load loses nothing that it acknowledged, and
that many clients at once get right answers.

  kills.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import http.client
import threading
import time

from serving import Case, Server, eventually, main

CLIENTS = 8
LEASE = 2  # seconds
FAILURES = (OSError, http.client.HTTPException)


class Load:
    """Clients that each do one thing again and again until the server is gone."""

    def __init__(self, server, step):
        self.server, self.step = server, step
        self.wrong = []
        self.threads = [threading.Thread(target=self.run, args=(i,))
                        for i in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        connection = self.server.connect()
        try:
            while True:
                self.step(number, connection)
        except FAILURES:
            pass
        except Exception as error:  # noqa: BLE001
            self.wrong.append(error)
        connection.close()

    def join(self):
        for thread in self.threads:
            thread.join(30)
        assert not self.wrong, self.wrong[0]


class Kills(Case):
    def test_no_job_that_was_acknowledged_is_lost_when_the_server_is_killed(self):
        own = Server(self.folder.name)
        added, lock = set(), threading.Lock()

        def step(number, connection):
            answer = own.post(f"/v1/queues/k{number % 2}/jobs", {"payload": "x"},
                              connection=connection)
            assert answer.status == 201, answer
            with lock:
                added.add(answer.json["id"])

        load = Load(own, step)
        eventually(20, lambda: len(added) > 300)
        own.stop(9)
        load.join()
        again = Server(self.folder.name, url=own.url)
        found = set()
        while jobs := again.claim("k0", "k1", max=1000):
            found |= {job["id"] for job in jobs}
        self.assertEqual(again.stop(), 0)
        self.assertGreater(len(added), 300)
        self.assertLessEqual(added, found)

    def claim_all(self, server, queue):
        """Claim all jobs of a queue, also those that run, when their leases are over.
        Returns the jobs that ran, and when the last job was claimed."""
        stats = server.get(f"/v1/stats?queue={queue}").json["queues"][0]
        claimed = {}
        while len(claimed) < stats["ready"] + stats["running"]:
            jobs = server.claim(queue, max=1000, lease="1h", wait="20s")
            self.assertTrue(jobs, f"{len(claimed)} jobs of {stats}")
            last = time.monotonic()
            claimed |= {job["id"]: job["attempt"] for job in jobs}
        ran = {job for job, attempt in claimed.items() if attempt > 1}
        self.assertEqual(len(ran), stats["running"])
        return ran, last

    def test_no_verdict_is_lost_and_jobs_are_free_after_their_lease(self):
        own = Server(self.folder.name)
        own.ask("PUT", "/v1/queues/v", {"keep_done": "1h", "lease": f"{LEASE}s"})
        for _ in range(2):
            own.post("/v1/queues/v/jobs", {"jobs": [{"payload": "x"}] * 1000})
        done, lock, held = set(), threading.Lock(), {}

        def step(number, connection):
            verdicts = [{"claim": held[number]["claim"], "verdict": "done"}] \
                if number in held else []
            answer = own.post("/v1/settle-and-claim",
                              {"queues": ["v"], "verdicts": verdicts}, connection=connection)
            assert answer.status == 200, answer
            with lock:
                for result in answer.json["results"]:
                    assert result["outcome"] == "ok", result
                    done.add(result["id"])
            held[number] = answer.json["jobs"][0]

        load = Load(own, step)
        eventually(20, lambda: len(done) > 300)
        own.stop(9)
        killed = time.monotonic()
        load.join()
        again = Server(self.folder.name, url=own.url)
        ran, last = self.claim_all(again, "v")
        self.assertLess(last - killed, LEASE + 2)
        ended = {job["id"] for job in held.values()} - ran
        for job in done | ended:
            self.assertEqual(again.get(f"/v1/jobs/{job}").json["state"], "done")
        self.assertGreater(len(ran), 0)
        self.assertEqual(again.stop(), 0)

    def test_clients_that_claim_and_settle_at_once_run_each_job_once(self):
        own = Server(self.folder.name)
        total = 600
        own.post("/v1/queues/o/jobs", {"jobs": [{"payload": str(i)} for i in range(total)]})
        runs, lock = [], threading.Lock()

        def step(number, connection):
            jobs = own.post("/v1/claim", {"queues": ["o"], "max": 1 + number},
                            connection=connection).json["jobs"]
            if not jobs:
                raise OSError
            with lock:
                runs.extend(job["id"] for job in jobs)
            answer = own.post("/v1/verdicts", {"verdicts": [
                {"claim": job["claim"], "verdict": "done"} for job in jobs]},
                connection=connection)
            assert {r["outcome"] for r in answer.json["results"]} == {"ok"}, answer

        Load(own, step).join()
        self.assertEqual(len(runs), total)
        self.assertEqual(len(set(runs)), total)
        self.assertEqual(own.stop(), 0)

    def test_a_refused_request_does_not_harm_others_of_the_same_commit(self):
        own = Server(self.folder.name)
        own.ask("PUT", "/v1/queues/r", {"max_payload": 10})
        statuses, lock = [], threading.Lock()

        def step(number, connection):
            answer = own.post("/v1/queues/r/jobs",
                              {"payload": "x" * (20 if number % 2 else 5)},
                              connection=connection)
            with lock:
                statuses.append((number % 2, answer.status))
                if len(statuses) > 400:
                    raise OSError

        Load(own, step).join()
        self.assertEqual(set(statuses), {(0, 201), (1, 413)})
        self.assertEqual(own.stop(), 0)


if __name__ == "__main__":
    main()
