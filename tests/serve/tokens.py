#!/usr/bin/env python3
"""Test tokens: which calls their scopes allow, and which addresses need a token.

  tokens.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import time

from serving import KIND, READPAST, Case, Server, eventually, main


class Tokens(Case):
    options = ("--tokens",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tokens = {name: cls.add(name, may) for name, may in {
            "admin": "admin:*", "reader": "read:mail", "readers": "read:ma*",
            "producer": "enqueue:mail", "worker": "work:mail", "all": "work:*,read:*",
        }.items()}

    @classmethod
    def add(cls, name, may):
        return cls.server.readpast("token", "add", name, "--may", may).strip()

    def by(self, name, method, path, body=None, headers={}):
        token = self.tokens.get(name, name)
        return self.server.ask(method, path, body,
                               headers={"Authorization": f"Bearer {token}", **headers})

    def test_each_call_needs_a_token_that_is_valid(self):
        good = self.tokens["admin"]
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": good},
                        {"Authorization": "Basic eDp5"}, {"Cookie": "readpast=x"},
                        {"Authorization": "Bearer " + good[:-1]},
                        {"Authorization": "Bearer " + good[:-1] + "!"},
                        {"Authorization": "Bearer " + good + "0"},
                        {"Authorization": "Bearer rp_0123456789abcdef_" + "0" * 64}):
            for method, path in (("GET", "/v1/queues"), ("GET", "/v1/session"),
                                 ("POST", "/v1/queues/mail/jobs"), ("POST", "/v1/claim"),
                                 ("GET", "/v1/events"), ("GET", "/metrics")):
                answer = self.server.ask(method, path, headers=headers)
                self.refused(answer, 401)
                self.assertEqual(answer.headers["WWW-Authenticate"], "Bearer")

    def test_several_spaces_may_be_before_a_token(self):
        answer = self.server.get("/v1/queues", headers={
            "Authorization": "bearer   " + self.tokens["admin"]})
        self.assertEqual(answer.status, 200)

    def test_a_new_token_is_valid_while_another_client_writes(self):
        if KIND != "sqlite:":
            return  # only SQLite has a lock that makes other writes wait
        token = self.add("newest", "read:*")
        db = sqlite3.connect(self.server.url.removeprefix("sqlite:"), isolation_level=None)
        db.execute("begin immediate")
        began = time.monotonic()
        answer = self.by(token, "GET", "/v1/queues")
        seconds = time.monotonic() - began
        db.execute("commit")
        db.close()
        self.assertEqual(answer.status, 200)
        self.assertLess(seconds, 5)

    def test_a_token_is_not_refused_because_the_tokens_cannot_be_read(self):
        """The client would not try again after status 401."""
        own = Server(self.folder.name, "--tokens")
        token = own.readpast("token", "add", "new", "--may", "read:*").strip()
        headers = {"Authorization": f"Bearer {token}"}
        own.sql("alter table {token} rename column key to hidden")
        self.refused(own.get("/v1/queues", headers=headers), 500)
        own.sql("alter table {token} rename column hidden to key")
        self.assertEqual(own.get("/v1/queues", headers=headers).status, 200)
        self.assertEqual(own.stop(), 0)

    def test_a_large_body_with_a_new_token_is_accepted_at_the_latest_soon(self):
        token = self.add("large", "enqueue:*")

        def enqueue():
            answer = self.server.post("/v1/queues/large/jobs", b"x" * 1000000,
                                      headers={"Authorization": f"Bearer {token}",
                                               "Content-Type": "text/plain"})
            if answer.status == 503:
                self.assertIn("token is new", self.refused(answer, 503)["detail"])
                return False
            return answer.status == 201
        self.assertTrue(eventually(10, enqueue))

    def test_bodies_with_tokens_that_do_not_exist_use_no_memory(self):
        size, before, sockets = 4 << 20, self.server.memory(), []
        for i in range(8):
            s = socket.create_connection((self.server.host, self.server.port), timeout=20)
            s.sendall((f"POST /v1/queues/a/jobs HTTP/1.1\r\n"
                       f"Host: {self.server.host}:{self.server.port}\r\n"
                       f"Authorization: Bearer rp_{i:016x}_{'0' * 64}\r\n"
                       f"Content-Length: {size}\r\n\r\n").encode())
            s.sendall(b"x" * (size - 1))
            sockets.append(s)
        self.assertLess(self.server.memory() - before, size)
        for s in sockets:
            s.sendall(b"x")
            self.assertIn(b"401 Unauthorized", s.recv(65536))
            s.close()

    def test_health_the_page_and_the_description_need_no_token(self):
        for path in ("/healthz", "/", "/openapi.json"):
            self.assertEqual(self.server.get(path).status, 200)
        self.assertTrue(eventually(5, lambda: self.server.get("/readyz").status == 200))

    def test_a_token_may_do_what_its_scopes_say_and_nothing_else(self):
        self.by("admin", "PUT", "/v1/queues/mail")
        self.by("admin", "PUT", "/v1/queues/other")
        calls = {
            ("POST", "/v1/queues/mail/jobs"): {"admin", "producer"},
            ("POST", "/v1/queues/other/jobs"): {"admin"},
            ("GET", "/v1/queues/mail"): {"admin", "reader", "readers", "all"},
            ("GET", "/v1/queues/other"): {"admin", "all"},
            ("GET", "/v1/jobs?queue=mail"): {"admin", "reader", "readers", "all"},
            ("POST", "/v1/queues/mail/pause"): {"admin"},
            ("POST", "/v1/queues/mail/resume"): {"admin"},
            ("POST", "/v1/queues/mail/hold"): {"admin"},
            ("GET", "/v1/doctor"): {"admin", "all"}, ("GET", "/metrics"): {"admin", "all"},
            ("HEAD", "/v1/events"): set(self.tokens),
            ("HEAD", "/v1/events?queues=mail"): {"admin", "reader", "readers", "all"},
            ("HEAD", "/v1/events?queues=mail,other"): {"admin", "all"},
            ("HEAD", "/v1/events?queues=other"): {"admin", "all"},
            ("HEAD", "/v1/events?queues=mailbox"): {"admin", "readers", "all"},
        }
        bodies = {"/v1/queues/mail/hold": {"clear": True}}
        for (method, path), allowed in calls.items():
            for name in self.tokens:
                answer = self.by(name, method, path,
                                 bodies.get(path, {}) if method == "POST" else None)
                with self.subTest(name=name, path=path):
                    if name in allowed:
                        self.assertIn(answer.status, (200, 201))
                    elif method == "HEAD":
                        self.assertEqual(answer.status, 403)
                    else:
                        self.refused(answer, 403)

    def test_a_scope_that_is_not_one_is_refused_by_its_name(self):
        for may, named in (("read", "read"), ("read:", "read:"), ("", ""), (",", ","),
                           ("read:a,,work:a", "read:a,,work:a"), ("read:a,", "read:a,"),
                           ("read:a,own:b,work:c", "own:b"), ("read: a", "read: a"),
                           ("read:a, work:a", " work:a"), ("read:a ,work:a", "read:a "),
                           ("read:a read:b", "read:a read:b"),
                           ("read:a b enqueue:c*", "read:a b enqueue:c*"),
                           ("work:a*b", "work:a*b"), ("read:*a", "read:*a"),
                           ("read:a**", "read:a**"), ("read:* ", "read:* "),
                           ("read:" + "x" * 129, "read:" + "x" * 129),
                           ("admin:" + "x" * 200, "admin:" + "x" * 200),
                           ("read:a\nb", "read:a\nb"), ("work:\x7f*", "work:\x7f*"),
                           ("read:\udcff", "read:\udcff")):
            done = subprocess.run(
                [READPAST, "--db", self.server.url, "token", "add", "wrong", "--may", may],
                stderr=subprocess.PIPE, text=True, errors="surrogateescape")
            with self.subTest(may=may):
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"--may {named}: expected enqueue:QUEUE", done.stderr)
        self.assertNotIn("wrong", self.server.readpast("token", "list"))
        self.add("blank", "read:in the middle,read:at the*,read:re read,read:aread:a")
        self.assertIn("read:in the middle,read:at the*,read:re read,read:aread:a",
                      self.server.readpast("token", "list"))

    def test_a_token_that_cannot_be_printed_is_not_added(self):
        for options in ((), ("--json",)):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [READPAST, "--db", self.server.url, "token", "add", "unseen", "--may",
                     "read:*", *options], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "readpast: cannot write to standard output: the token unseen"
                                 " was removed\n"))
            self.assertNotIn("unseen", self.server.readpast("token", "list"))

    def test_a_claim_needs_the_right_for_each_of_its_queues(self):
        for name, queues, status in (("worker", ["mail"], 200), ("all", ["a", "b"], 200),
                                     ("worker", ["mail", "other"], 403),
                                     ("reader", ["mail"], 403)):
            answer = self.by(name, "POST", "/v1/claim", {"queues": queues})
            self.assertEqual(answer.status, status)

    def test_a_list_has_only_what_the_token_may_read(self):
        for queue in ("mail", "other"):
            self.by("admin", "POST", f"/v1/queues/{queue}/jobs", {"delay": "1h"})
        for path, name in (("/v1/queues", "queues"), ("/v1/stats", "queues"),
                           ("/v1/jobs", "jobs")):
            found = self.by("readers", "GET", path).json[name]
            self.assertEqual({one["queue"] for one in found}, {"mail"}, path)
            self.assertEqual(self.by("producer", "GET", path).json[name], [])

    def test_a_list_of_jobs_depends_only_on_the_queues_that_the_token_may_read(self):
        """A search examines 10,000 jobs of each state. All of them are of another queue,
        unless it examines only what the token may read."""
        token = self.add("pager", "read:page-*,read:mailbox")
        for i in range(11):
            self.by("admin", "POST", "/v1/queues/crowd/jobs",
                    {"jobs": [{"priority": 0}] * 1000})
        jobs = []
        for queue in ("page-a", "page-b", "page-a"):
            jobs.append(self.by("admin", "POST", f"/v1/queues/{queue}/jobs", {}).json["id"])
        found, cursor = [], ""
        for _ in jobs:
            page = self.by(token, "GET", f"/v1/jobs?limit=1{cursor}").json
            self.assertNotIn("partial", page)
            found += [job["id"] for job in page["jobs"]]
            cursor = f"&cursor={page['next']}"
            named = [word.split("-")[1] for word in (page["next"] or "").split(",") if word]
            self.assertEqual([str(job) for job in sorted(jobs) if job not in found],
                             sorted(named, key=int))
        self.assertEqual(sorted(found), jobs)
        self.assertIsNone(page["next"])
        # A cursor that names jobs of another queue does not reveal whether they exist.
        forged = self.by(token, "GET", "/v1/jobs?limit=1&cursor=2-1,2-2,2-3").json
        self.assertEqual([job["id"] for job in forged["jobs"]], found[:1])
        for path in ("/v1/jobs?state=all", "/v1/jobs?state=dead", "/v1/jobs?error=x"):
            self.assertEqual(self.by("producer", "GET", path).json,
                             {"jobs": [], "next": None})
        self.assertEqual(self.by("admin", "GET", "/v1/jobs?limit=1").json["partial"], True)
        self.by("admin", "DELETE", "/v1/queues/crowd")

    def test_a_list_of_kept_jobs_has_only_what_the_token_may_read(self):
        for queue in ("mail", "other"):
            job = self.by("admin", "POST", f"/v1/queues/{queue}/jobs",
                          {"keep": "1h", "delay": "1h"}).json["id"]
            self.by("admin", "POST", f"/v1/jobs/{job}/cancel")
        found = self.by("reader", "GET", "/v1/jobs?state=cancelled").json
        self.assertEqual({job["queue"] for job in found["jobs"]}, {"mail"})

    def test_a_queue_that_the_token_may_not_read_is_not_told_from_one_that_is_not(self):
        self.by("admin", "PUT", "/v1/queues/other")
        for path in ("/v1/stats?queue={}", "/v1/jobs?queue={}", "/v1/groups?queue={}",
                     "/v1/queues/{}"):
            for queue in ("other", "nosuch"):
                self.refused(self.by("reader", "GET", path.format(queue)), 403)

    def test_dead_jobs_go_only_where_the_token_may_enqueue(self):
        owner = self.add("owner", "admin:own")
        for method in ("PUT", "PATCH"):
            answer = self.by(owner, method, "/v1/queues/own", {"dead_to": "secret"})
            self.refused(answer, 403)
        self.assertEqual(self.by("admin", "PUT", "/v1/queues/own",
                                 {"dead_to": "secret"}).status, 201)
        self.assertEqual(self.by(owner, "PATCH", "/v1/queues/own",
                                 {"dead_to": None}).status, 200)

    def test_a_worker_is_shown_without_what_the_token_may_not_read(self):
        work = subprocess.Popen([READPAST, "--db", self.server.url, "work", "mail", "secret",
                                 "--", "true"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

        def seen(name):
            return [worker["queues"] for worker in
                    self.by(name, "GET", "/v1/workers").json["workers"]]
        try:
            self.assertTrue(eventually(10, lambda: seen("all")))
            self.assertEqual(seen("all"), [["mail", "secret"]])
            self.assertEqual(seen("reader"), [["mail"]])
            self.assertEqual(seen("producer"), [])
            for name, is_known in (("all", True), ("reader", False)):
                worker = self.by(name, "GET", "/v1/workers").json["workers"][0]
                for count in ("running", "done", "failed", "dead", "released"):
                    self.assertEqual(worker[count] is not None, is_known, worker)
        finally:
            work.terminate()
            work.wait()
        self.by("worker", "POST", "/v1/claim", {"queues": ["mail"], "worker": "amy"})
        amy = self.by("reader", "GET", "/v1/workers").json["workers"][-1]
        self.assertEqual((amy["name"], amy["done"]), ("amy", 0))

    def test_a_job_of_another_queue_looks_as_if_it_were_not_there(self):
        job = self.by("admin", "POST", "/v1/queues/other/jobs", {}).json["id"]
        for path in ("", "/payload", "/why", "/outcome"):
            there = self.by("reader", "GET", f"/v1/jobs/{job}{path}")
            never = self.by("reader", "GET", f"/v1/jobs/987654321{path}")
            self.refused(there, 404)
            self.assertEqual(there.bytes.replace(str(job).encode(), b"987654321"),
                             never.bytes)
        for verb in ("cancel", "retry"):
            self.refused(self.by("worker", "POST", f"/v1/jobs/{job}/{verb}"), 404)
            self.refused(self.by("all", "POST", f"/v1/jobs/{job}/{verb}"), 403)

    def outcome_after(self, end, job):
        """Return the answer to a token that may read only ma*, and that waits for the
        end of the job. Call end() during the wait."""
        wait = self.server.connect()
        wait.request("GET", f"/v1/jobs/{job}/outcome?wait=20s",
                     headers={"Authorization": f"Bearer {self.tokens['readers']}"})
        waiting = 'readpast_http_waiting{for="outcome"}'
        admin = {"Authorization": f"Bearer {self.tokens['admin']}"}
        self.assertTrue(eventually(
            10, lambda: self.server.metric(waiting, headers=admin) == 1))
        end()
        answer = wait.getresponse()
        found = json.loads(answer.read())
        wait.close()
        return answer.status, found.get("state"), found.get("kept")

    def test_a_token_that_waits_for_a_job_learns_how_it_ended(self):
        job = self.by("admin", "POST", "/v1/queues/made/jobs", {}).json["id"]
        claim = self.by("all", "POST", "/v1/claim",
                        {"queues": ["made"]}).json["jobs"][0]["claim"]
        body = {"verdicts": [{"claim": claim, "verdict": "done"}]}
        found = self.outcome_after(lambda: self.by("all", "POST", "/v1/verdicts", body), job)
        self.assertEqual(found, (200, "done", False))
        # Without a wait, nothing says any more which queue the job was in.
        self.refused(self.by("readers", "GET", f"/v1/jobs/{job}/outcome"), 404)

    def test_a_token_that_waits_for_a_job_learns_that_its_queue_was_dropped(self):
        job = self.by("admin", "POST", "/v1/queues/match/jobs", {"delay": "1h"}).json["id"]
        found = self.outcome_after(
            lambda: self.by("admin", "DELETE", "/v1/queues/match"), job)
        self.assertEqual(found, (200, "cancelled", False))

    def test_a_verdict_on_a_job_of_another_queue_changes_nothing(self):
        self.by("admin", "POST", "/v1/queues/secret/jobs", {})
        claim = self.by("admin", "POST", "/v1/claim",
                        {"queues": ["secret"]}).json["jobs"][0]["claim"]
        verdict = {"verdicts": [{"claim": claim, "verdict": "done"}]}
        answer = self.by("worker", "POST", "/v1/verdicts", verdict).json
        self.assertEqual(answer["results"][0]["outcome"], "not-found")
        answer = self.by("all", "POST", "/v1/verdicts", verdict).json
        self.assertEqual(answer["results"][0]["outcome"], "ok")

    def test_each_of_many_verdicts_needs_the_right_for_the_queue_of_its_job(self):
        self.by("admin", "PUT", "/v1/queues/mail")
        self.by("admin", "PATCH", "/v1/queues/mail", {"keep_done": "1h"})
        queues = ["mail", "secret", "mail"]
        for queue in queues:
            self.by("admin", "POST", f"/v1/queues/{queue}/jobs", {})
        claims = [self.by("admin", "POST", "/v1/claim",
                          {"queues": [queue]}).json["jobs"][0]["claim"] for queue in queues]
        verdicts = {"verdicts": [{"claim": claim, "verdict": "done"}
                                 for claim in [*claims, "999999:1"]]}
        for first in "ok", "gone":
            answer = self.by("worker", "POST", "/v1/verdicts", verdicts).json
            self.assertEqual([one["outcome"] for one in answer["results"]],
                             [first, "not-found", first, "not-found"])

    def test_a_verdict_needs_a_right_to_work(self):
        verdict = {"verdicts": [{"claim": "1:1", "verdict": "done"}]}
        for name in "reader", "producer":
            self.refused(self.by(name, "POST", "/v1/verdicts", verdict), 403)
        for name in "worker", "admin":
            self.assertEqual(self.by(name, "POST", "/v1/verdicts", verdict).status, 200)

    def test_a_token_that_was_just_made_is_known_and_a_removed_one_is_refused(self):
        token = self.add("new", "read:*")
        self.assertEqual(self.by(token, "GET", "/v1/queues").status, 200)
        self.server.readpast("token", "remove", "new")
        self.assertTrue(eventually(
            5, lambda: self.by(token, "GET", "/v1/queues").status == 401))

    def test_a_removed_token_gets_no_more_events_and_no_job(self):
        token = self.add("old", "read:*,work:*")
        headers = {"Authorization": f"Bearer {token}"}
        stream, claim = self.server.connect(), self.server.connect()
        stream.request("GET", "/v1/events", headers=headers)
        events = stream.getresponse()
        events.readline()
        claim.request("POST", "/v1/claim", json.dumps({"queues": ["gone"], "wait": "60s"}),
                      headers)
        self.assertTrue(eventually(5, lambda: self.server.metric(
            'readpast_http_waiting{for="claim"}', headers={
                "Authorization": f"Bearer {self.tokens['all']}"}) == 1))
        self.server.readpast("token", "remove", "old")
        self.assertTrue(eventually(
            5, lambda: self.by(token, "GET", "/v1/queues").status == 401))
        events.read()  # until the server ends the stream
        job = self.by("admin", "POST", "/v1/queues/gone/jobs", {}).json["id"]
        self.assertEqual(claim.getresponse().status, 401)
        found = self.by("all", "GET", f"/v1/jobs/{job}").json
        self.assertEqual((found["state"], found["attempt"]), ("ready", 0))
        stream.close()
        claim.close()

    def test_a_removed_token_still_gets_the_results_of_the_verdicts_before_its_wait(self):
        token = self.add("short", "work:turned")
        first = self.by("admin", "POST", "/v1/queues/turned/jobs", {}).json["id"]
        claim = self.by(token, "POST", "/v1/claim",
                        {"queues": ["turned"]}).json["jobs"][0]["claim"]
        wait = self.server.connect()
        wait.request("POST", "/v1/settle-and-claim", json.dumps(
            {"queues": ["turned"], "wait": "60s",
             "verdicts": [{"claim": claim, "verdict": "done"}]}),
            headers={"Authorization": f"Bearer {token}"})
        self.assertTrue(eventually(5, lambda: self.by(
            "all", "GET", f"/v1/jobs/{first}/outcome").json["ended"]))
        self.server.readpast("token", "remove", "short")
        self.assertTrue(eventually(
            5, lambda: self.by(token, "GET", "/v1/queues").status == 401))
        job = self.by("admin", "POST", "/v1/queues/turned/jobs", {}).json["id"]
        answer = wait.getresponse()
        self.assertEqual((answer.status, json.loads(answer.read())), (
            200, {"results": [{"id": first, "outcome": "ok", "state": "done"}], "jobs": []}))
        found = self.by("all", "GET", f"/v1/jobs/{job}").json
        self.assertEqual((found["state"], found["attempt"]), ("ready", 0))
        wait.close()

    def test_a_token_is_known_at_once_however_soon_it_is_used(self):
        for i in range(30):
            token = self.add(f"soon-{i}", "read:*")
            self.assertEqual(self.by(token, "GET", "/v1/queues").status, 200)

    def test_the_page_gets_a_cookie_for_its_token_and_can_give_it_back(self):
        answer = self.by("reader", "POST", "/v1/session")
        cookie = answer.headers["Set-Cookie"]
        for word in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(word, cookie)
        kept = {"Cookie": cookie.split(";")[0]}
        session = self.server.get("/v1/session", headers=kept)
        self.assertEqual(session.json["token"], "reader")
        foreign = {**kept, "Origin": "http://evil.com"}
        self.refused(self.server.get("/v1/session", headers=foreign), 403)
        ended = self.server.ask("DELETE", "/v1/session", headers=kept)
        self.assertIn("Max-Age=0", ended.headers["Set-Cookie"])

    def test_the_session_has_the_queues_that_the_token_may_change(self):
        token = self.add("shop", "read:*,admin:mail,work:jobs,admin:shop*")
        for name, queues in ((token, ["mail", "shop*"]), ("admin", ["*"]), ("all", []),
                             ("reader", [])):
            for method in ("GET", "POST"):
                session = self.by(name, method, "/v1/session").json
                self.assertEqual(session["admin"], queues)

    def test_a_schedule_that_gets_another_queue_meanwhile_is_not_changed(self):
        mine = self.add("mine", "admin:mine")
        body = {"queue": "mine", "spec": "@daily"}
        path = "/v1/schedules/contested"
        for method, part in (("PUT", ""), ("POST", "/pause"), ("POST", "/resume"),
                             ("POST", "/run"), ("DELETE", "")):
            self.by("admin", "DELETE", path)
            self.assertEqual(self.by(mine, "PUT", path, body).status, 201)
            with self.subTest(method=method, part=part):
                answer = self.server.ask_during(
                    ["update {schedule} set queue = 'theirs' where name = 'contested'"],
                    method, path + part, body if method == "PUT" else None,
                    {"Authorization": f"Bearer {mine}"})
                self.refused(answer, 403 if method == "PUT" else 404)
                found = self.by("admin", "GET", path).json
                self.assertEqual((found["queue"], found["paused_at"]), ("theirs", None))

    def test_a_schedule_that_is_added_meanwhile_is_not_replaced(self):
        mine = self.add("adder", "admin:mine")
        self.by("admin", "PUT", "/v1/schedules/model", {"queue": "theirs", "spec": "@daily"})
        answer = self.server.ask_during(
            ["update {schedule} set name = 'added' where name = 'model'"],
            "PUT", "/v1/schedules/added", {"queue": "mine", "spec": "@daily"},
            {"Authorization": f"Bearer {mine}"})
        self.refused(answer, 403)
        self.assertEqual(self.by("admin", "GET", "/v1/schedules/added").json["queue"],
                         "theirs")

    def test_the_database_does_not_have_the_token_itself(self):
        if self.server.url.startswith("sqlite:"):
            secret = self.tokens["admin"].split("_")[2].encode()
            for path in pathlib.Path(self.folder.name).glob("*.db*"):
                self.assertNotIn(secret, path.read_bytes())
        shown = self.server.readpast("token", "list", "--json")
        self.assertNotIn(self.tokens["admin"], shown)
        self.assertIn('"name":"reader"', shown)


class Addresses(Case):
    def refuse(self, *options):
        ran = subprocess.run([READPAST, "--db", "sqlite:/nonexistent/x.db", "serve",
                              *options], capture_output=True, text=True, timeout=20)
        self.assertEqual(ran.returncode, 2, ran)
        return ran.stderr

    def test_an_address_for_other_machines_needs_tokens_or_insecure(self):
        for address in ("0.0.0.0:0", "[::]:0"):
            self.assertIn("--tokens", self.refuse("--listen", address))
        own = Server(self.folder.name, "--insecure", listen="0.0.0.0:0")
        own.host = "127.0.0.1"
        self.assertEqual(own.get("/v1/queues").status, 200)
        own.stop()

    def test_an_address_of_ipv6_for_all_machines_is_one_for_ipv4_too(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:  # this machine has no IPv6
            self.refuse("--listen", "[::]:0")
            return
        own = Server(self.folder.name, "--insecure", listen="[::]:0")
        for host in ("127.0.0.1", "::1"):
            own.host, own.connection = host, None
            for name in (f"[{host}]" if ":" in host else host, "localhost"):
                answer = own.get("/v1/queues", headers={"Host": f"{name}:{own.port}"})
                self.assertEqual(answer.status, 200, (host, name, answer))
            for name in ("evil.com", "127.0.0.2", "[::2]"):
                answer = own.get("/v1/queues", headers={"Host": f"{name}:{own.port}"})
                self.refused(answer, 421)
        own.stop()

    def test_an_address_that_is_not_one_is_refused(self):
        for address in ("8080", "localhost", "127.0.0.1:x", "127.0.0.1:8k",
                        ":", "unix", "127.0.0.1:99999"):
            self.refuse("--listen", address)

    def test_a_socket_in_the_file_system_is_for_its_user_only_and_is_removed(self):
        path = pathlib.Path(self.folder.name) / "socket"
        own = Server(self.folder.name, listen=f"unix:{path}")
        self.assertEqual(os.stat(path).st_mode & 0o077, 0)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(path))
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertIn(b"200 OK", s.recv(1000))
        self.assertEqual(own.stop(), 0)
        self.assertFalse(path.exists())

    def test_a_server_that_ends_leaves_the_socket_of_the_next_server(self):
        path = pathlib.Path(self.folder.name) / "handed-over"
        first = Server(self.folder.name, listen=f"unix:{path}")
        path.unlink()
        second = Server(self.folder.name, listen=f"unix:{path}")
        self.assertEqual(first.stop(), 0)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(path))
        self.assertEqual(second.stop(), 0)
        self.assertFalse(path.exists())

    def test_a_socket_that_a_killed_server_left_is_used_again(self):
        path = pathlib.Path(self.folder.name) / "left"
        Server(self.folder.name, listen=f"unix:{path}").stop(9)
        self.assertTrue(path.exists())
        self.assertEqual(Server(self.folder.name, listen=f"unix:{path}").stop(), 0)

    def test_a_file_that_is_not_a_socket_is_never_removed(self):
        path = pathlib.Path(self.folder.name) / "file"
        path.write_text("keep")
        done = subprocess.run([READPAST, "--db", self.server.url, "serve", "--listen",
                               f"unix:{path}"], stderr=subprocess.PIPE, text=True,
                              timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot listen on unix:{path}", done.stderr)
        self.assertEqual(path.read_text(), "keep")


if __name__ == "__main__":
    main()
