#!/usr/bin/env python3
"""Test each call of the HTTP API with valid input.

  calls.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import base64
import contextlib
import json
import sqlite3

from serving import KIND, Case, Server, eventually, main


class Enqueue(Case):
    def test_a_text_is_stored_as_it_is_and_other_json_as_compact_json(self):
        for payload, stored, headers in (
                ("grün", "grün", None),
                ("", "", None),
                ({"a": [1, None, "ü"]}, '{"a":[1,null,"ü"]}',
                 {"content-type": "application/json"}),
                (17, "17", {"content-type": "application/json"}),
                ({"b": 1.10, "a": 0.1}, '{"b":1.1,"a":0.1}',
                 {"content-type": "application/json"}),
                (0.1 + 0.2, "0.30000000000000004", {"content-type": "application/json"}),
                (None, "null", {"content-type": "application/json"}),
                (False, "false", {"content-type": "application/json"})):
            self.server.enqueue(self.queue, payload=payload)
            job = self.server.claim(self.queue)[0]
            self.assertEqual((job["payload"], job["headers"]), (stored, headers))

    def test_bytes_that_are_not_text_come_back_as_base64(self):
        data = bytes(range(256))
        self.server.post(f"/v1/queues/{self.queue}/jobs",
                         {"payload_base64": base64.b64encode(data).decode()})
        job = self.server.claim(self.queue)[0]
        self.assertNotIn("payload", job)
        self.assertEqual(base64.b64decode(job["payload_base64"]), data)

    def test_null_is_like_a_field_that_is_left_out(self):
        path = f"/v1/queues/{self.queue}/jobs"
        for body in ({"payload": "x", "jobs": None, "headers": None, "kind": None},
                     {"payload": None, "payload_base64": "eA==", "backoff": None}):
            self.assertEqual(self.server.post(path, body).status, 201, body)
        jobs = self.server.claim(self.queue, max=9)
        self.assertEqual([(job["payload"], job["headers"]) for job in jobs],
                         [("x", None)] * 2)
        answer = self.server.post("/v1/verdicts", {"verdicts": [
            {"claim": jobs[0]["claim"], "verdict": "fail", "result": None},
            {"claim": jobs[1]["claim"], "verdict": "done", "error": None}]})
        self.assertEqual([r["outcome"] for r in answer.json["results"]], ["ok"] * 2)
        answer = self.server.post("/v1/settle-and-claim",
                                  {"queues": [self.queue], "verdicts": None})
        self.assertEqual(answer.json, {"results": [], "jobs": []})

    def test_all_settings_of_a_job_are_stored(self):
        job = self.server.enqueue(
            self.queue, kind="k", headers={"h": 1234567.89}, priority=7, delay="1h",
            unique_key="u", unique_for="2h", max_attempts=9, timeout="3m", expire="2h",
            keep="4h", group="g", backoff=["1s", "2m"])
        shown = self.server.get(f"/v1/jobs/{job}").json
        for name, value in {"kind": "k", "headers": {"h": 1234567.89}, "priority": 7,
                            "unique_key": "u", "unique_for_ms": 7200000,
                            "max_attempts": 9, "timeout_ms": 180000, "keep_ms": 14400000,
                            "group_key": "g", "backoff": [1000, 120000],
                            "state": "scheduled", "payload": "x",
                            "payload_size": 1, "failures": []}.items():
            self.assertEqual(shown[name], value, name)

    def test_many_jobs_are_enqueued_in_their_order(self):
        answer = self.server.post(f"/v1/queues/{self.queue}/jobs",
                                  {"jobs": [{"payload": str(i)} for i in range(1000)]})
        self.assertEqual(answer.status, 201)
        self.assertEqual({j["outcome"] for j in answer.json["jobs"]}, {"added"})
        jobs = self.server.claim(self.queue, max=1000)
        self.assertEqual([j["payload"] for j in jobs], [str(i) for i in range(1000)])

    def test_a_unique_key_that_is_taken_adds_nothing_and_replace_replaces(self):
        path = f"/v1/queues/{self.queue}/jobs"
        first = self.server.post(path, {"payload": "a", "unique_key": "u"}).json
        second = self.server.post(path, {"payload": "b", "unique_key": "u"}).json
        third = self.server.post(path, {"payload": "c", "unique_key": "u",
                                        "replace": True}).json
        self.assertEqual([first["outcome"], second["outcome"], third["outcome"]],
                         ["added", "existing", "replaced"])
        self.assertEqual({first["id"], second["id"], third["id"]}, {first["id"]})
        self.assertEqual(self.server.claim(self.queue)[0]["payload"], "c")

    def test_any_other_content_type_makes_the_body_the_payload(self):
        answer = self.server.post(
            f"/v1/queues/{self.queue}/jobs", b"\0raw\xff",
            headers={"Content-Type": "image/png", "Readpast-Kind": "k",
                     "Readpast-Max-Attempts": "4", "Readpast-Delay": "0s",
                     "ce-source": "/cloud"})
        self.assertEqual(answer.status, 201)
        job = self.server.claim(self.queue)[0]
        self.assertEqual(base64.b64decode(job["payload_base64"]), b"\0raw\xff")
        self.assertEqual((job["kind"], job["max_attempts"]), ("k", 4))
        self.assertEqual(job["headers"],
                         {"content-type": "image/png", "ce-source": "/cloud"})

    def test_headers_and_backoff_of_a_raw_payload_are_json(self):
        answer = self.server.post(
            f"/v1/queues/{self.queue}/jobs", b"raw",
            headers={"Content-Type": "text/plain", "Readpast-Backoff": '["1s", "2m"]',
                     "Readpast-Headers": '{"a": "b", "content-type": "text/csv"}'})
        job = self.server.get(f"/v1/jobs/{answer.json['id']}").json
        self.assertEqual((job["headers"], job["backoff"]),
                         ({"a": "b", "content-type": "text/csv"}, [1000, 120000]))

    def test_a_repeated_idempotency_key_gets_the_same_answer_and_adds_nothing(self):
        path, key = f"/v1/queues/{self.queue}/jobs", {"Idempotency-Key": "k-1"}
        body = {"jobs": [{"payload": "1"}, {"payload": "2"}]}
        first = self.server.post(path, body, headers=key)
        second = self.server.post(path, body, headers=key)
        self.assertEqual((first.status, first.bytes), (second.status, second.bytes))
        self.assertEqual(len(self.server.claim(self.queue, max=9)), 2)
        self.refused(self.server.post(path, {"payload": "3"}, headers=key), 422, "key")
        other = self.server.post(path + "/../jobs", {"payload": "3"}, headers=key)
        self.assertEqual(other.status, 404)

    def test_an_idempotency_key_whose_time_is_over_can_be_used_again(self):
        path, key = f"/v1/queues/{self.queue}/jobs", {"Idempotency-Key": "k-2"}
        past = "1" if KIND == "sqlite:" else "to_timestamp(1)"
        ids = [self.server.post(path, {"payload": "1"}, headers=key).json["id"]]
        self.server.sql("update {answer} set until = " + past)
        for _ in range(2):
            ids.append(self.server.post(path, {"payload": "2"}, headers=key).json["id"])
        self.assertNotEqual(ids[0], ids[1])
        self.assertEqual(ids[1], ids[2])

    def test_all_old_answers_are_deleted_soon(self):
        own = Server(self.folder.name)
        self.assertEqual(own.stop(), 0)
        hash, past = (("x'00'", "1") if KIND == "sqlite:" else ("'\\x00'", "to_timestamp(1)"))
        own.sql("with recursive n(i) as (select 1 union all select i + 1 from n"
                " where i < 5000) insert into {answer} (name, hash, answer, until)"
                f" select 'n' || i, {hash}, '', {past} from n")
        own = Server(self.folder.name, url=own.url)
        self.assertTrue(eventually(20, lambda: not own.sql("select name from {answer} limit 1")))
        self.assertEqual(own.stop(), 0)

    def test_an_attempt_with_the_same_key_may_have_a_trace_of_its_own(self):
        path = f"/v1/queues/{self.queue}/jobs"
        same = {"Content-Type": "text/plain", "Idempotency-Key": "k", "ce-id": "7"}
        traces = [{"traceparent": f"00-{n * 16}-{n * 8}-01", "tracestate": f"a={n}"}
                  for n in ("0a", "0b")]
        answers = [self.server.post(path, b"x", headers={**same, **trace})
                   for trace in (*traces, {})]
        self.assertEqual([answer.status for answer in answers], [201] * 3)
        self.assertEqual({answer.bytes for answer in answers}, {answers[0].bytes})
        self.assertEqual([job["headers"] for job in self.server.claim(self.queue, max=9)],
                         [{"content-type": "text/plain", "ce-id": "7", **traces[0]}])
        for other in ({"ce-id": "8"}, {"Content-Type": "text/csv"}):
            answer = self.server.post(path, b"x", headers={**same, **traces[0], **other})
            self.refused(answer, 422, "key")

    def test_one_job_of_a_json_request_gets_the_trace_of_the_request(self):
        path = f"/v1/queues/{self.queue}/jobs"
        trace = {"traceparent": "00-0a-0b-01", "tracestate": "a=1"}
        own = {"a": 1, "traceparent": "00-1a-1b-01", "tracestate": "own=1"}
        for body in ({"payload": "x", "headers": None}, {"payload": {}, "headers": own},
                     {"jobs": [{"payload": "x"}]}):
            answer = self.server.post(path, body, headers={**trace, "ce-id": "7"})
            self.assertEqual(answer.status, 201)
        self.assertEqual([job["headers"] for job in self.server.claim(self.queue, max=9)],
                         [trace, {"content-type": "application/json", **own}, None])
        key = {"Idempotency-Key": "k"}
        answers = [self.server.post(path, {"payload": "x"}, headers={**key, **given})
                   for given in (trace, {"traceparent": "00-0c-0d-01"}, {})]
        self.assertEqual([answer.status for answer in answers], [201] * 3)
        self.assertEqual({answer.bytes for answer in answers}, {answers[0].bytes})

    def test_an_attempt_without_other_headers_may_lack_its_trace(self):
        path, key = f"/v1/queues/{self.queue}/jobs", {"Idempotency-Key": "k"}
        for trace in ({"traceparent": "00-0a-0b-01"}, {}):
            answer = self.server.post(path, b"x", headers={**key, **trace})
            self.assertEqual(answer.status, 201)
        self.assertEqual(len(self.server.claim(self.queue, max=9)), 1)

    def test_a_queue_may_have_any_name(self):
        for name, path in (("a/b", "a%2Fb"), ("x:pause", "x%3Apause"), ("%", "%25"),
                           ("grün", "gr%C3%BCn"), ("..", "%2E%2E"), (" ", "%20"),
                           ("jobs", "jobs"), ("+", "+")):
            answer = self.server.post(f"/v1/queues/{path}/jobs", {"payload": name})
            self.assertEqual(answer.status, 201, name)
            self.assertEqual(self.server.get(f"/v1/queues/{path}").json["queue"], name)
            self.assertEqual(self.server.claim(name)[0]["payload"], name)


class Claims(Case):
    def test_each_verdict_has_its_effect(self):
        self.server.ask("PUT", f"/v1/queues/{self.queue}",
                        {"keep_done": "1h", "max_attempts": 2})
        for _ in range(5):
            self.server.enqueue(self.queue)
        jobs = self.server.claim(self.queue, max=5)
        words = ["done", "fail", "dead", "release", "extend"]
        answer = self.server.post("/v1/verdicts", {"verdicts": [
            {"claim": jobs[0]["claim"], "verdict": "done", "result": "r"},
            {"id": jobs[1]["id"], "claim_no": jobs[1]["claim_no"], "verdict": "fail",
             "error": "why", "delay": "1h"},
            {"claim": jobs[2]["claim"], "verdict": "dead", "error": "never"},
            {"claim": jobs[3]["claim"], "verdict": "release", "delay": "1h"},
            {"claim": jobs[4]["claim"], "verdict": "extend", "lease": "1h",
             "progress": "half"}]})
        self.assertEqual(answer.status, 200)
        self.assertEqual([r["outcome"] for r in answer.json["results"]], ["ok"] * 5)
        states = ["done", "scheduled", "dead", "scheduled", "running"]
        self.assertEqual([r["state"] for r in answer.json["results"]], states)
        shown = [self.server.get(f"/v1/jobs/{job['id']}").json for job in jobs]
        self.assertEqual([job["state"] for job in shown], states, words)
        self.assertEqual(shown[0]["result"], "r")
        self.assertEqual(shown[1]["failures"][0]["text"], "why")
        self.assertEqual(shown[4]["progress"], "half")

    def test_a_verdict_that_comes_too_late_is_refused_and_the_others_are_not(self):
        self.server.enqueue(self.queue)
        cancelled = self.server.enqueue(self.queue)
        good, other = self.server.claim(self.queue, max=2)
        self.assertEqual(self.server.post(f"/v1/jobs/{cancelled}/cancel").status, 200)
        answer = self.server.post("/v1/verdicts", {"verdicts": [
            {"id": good["id"], "claim_no": good["claim_no"] - 1, "verdict": "done"},
            {"claim": good["claim"], "verdict": "done"},
            {"claim": other["claim"], "verdict": "done"},
            {"id": 999999999, "claim_no": 5, "verdict": "done"}]})
        self.assertEqual([r["outcome"] for r in answer.json["results"]],
                         ["gone", "ok", "cancelled", "not-found"])

    def test_settle_and_claim_does_both(self):
        self.server.enqueue(self.queue, payload="1")
        self.server.enqueue(self.queue, payload="2")
        first = self.server.claim(self.queue)[0]
        answer = self.server.post("/v1/settle-and-claim", {
            "verdicts": [{"claim": first["claim"], "verdict": "done"}],
            "queues": [self.queue], "max": 5}).json
        self.assertEqual(answer["results"][0]["outcome"], "ok")
        self.assertEqual([j["payload"] for j in answer["jobs"]], ["2"])

    def test_a_claim_that_is_refused_gives_no_verdict(self):
        self.server.enqueue(self.queue)
        job = self.server.claim(self.queue)[0]
        answer = self.server.post("/v1/settle-and-claim", {
            "queues": ["a\x01"], "verdicts": [{"claim": job["claim"], "verdict": "fail"}]})
        self.refused(answer, 400, "queues[0]")
        self.assertEqual(self.server.get(f"/v1/jobs/{job['id']}").json["state"], "running")

    def test_a_claim_from_a_queue_that_does_not_exist_gets_an_empty_list(self):
        self.assertEqual(self.server.claim("never made"), [])
        self.refused(self.server.get("/v1/queues/never%20made"), 404)


class Jobs(Case):
    def ids(self, query):
        return [job["id"] for job in self.server.get(f"/v1/jobs?{query}").json["jobs"]]

    def test_pages_of_a_list_have_each_job_once(self):
        ids = [job["id"] for job in self.server.post(
            f"/v1/queues/{self.queue}/jobs",
            {"jobs": [{"payload": "x"}] * 25}).json["jobs"]]
        found, cursor = [], ""
        while cursor is not None:
            page = self.server.get(
                f"/v1/jobs?queue={self.queue}&limit=7"
                + (f"&cursor={cursor}" if cursor else "")).json
            found += [job["id"] for job in page["jobs"]]
            cursor = page["next"]
        self.assertEqual(found, ids)

    def test_pages_skip_no_job_while_others_leave_the_list(self):
        ids = [job["id"] for job in self.server.post(
            f"/v1/queues/{self.queue}/jobs",
            {"jobs": [{"payload": "x"}] * 60}).json["jobs"]]
        for taken in (5, 8, 30):
            page = self.server.get(
                f"/v1/jobs?queue={self.queue}&state=ready&limit=5").json
            self.server.claim(self.queue, max=taken)
            ids = ids[taken:]
            more = self.server.get(f"/v1/jobs?queue={self.queue}&state=ready&limit=99"
                                   f"&cursor={page['next']}").json
            self.assertEqual([job["id"] for job in more["jobs"]], ids)

    def test_pages_skip_no_job_when_the_next_job_moves_within_its_state(self):
        ids = [self.server.enqueue(self.queue, delay=f"{i + 1}h") for i in range(8)]
        path = f"/v1/jobs?queue={self.queue}&state=scheduled"
        page = self.server.get(f"{path}&limit=2").json
        self.assertEqual([job["id"] for job in page["jobs"]], ids[:2])
        for moved, delay, listed in ((2, "9h", [3, 4, 5, 6, 7, 2]),
                                     (3, "30m", [3, 0, 1, 4, 5, 6, 7, 2])):
            self.server.post(f"/v1/jobs/{ids[moved]}/change", {"delay": delay})
            more = self.server.get(f"{path}&cursor={page['next']}").json
            self.assertEqual([job["id"] for job in more["jobs"]], [ids[i] for i in listed])

    def test_a_list_has_only_the_jobs_that_match(self):
        a = self.server.enqueue(self.queue, kind="a", unique_key="one")
        b = self.server.enqueue(self.queue, kind="b", delay="1h")
        q = f"queue={self.queue}"
        self.assertEqual(self.ids(q), [a, b])
        self.assertEqual(self.ids(q + "&kind=a"), [a])
        self.assertEqual(self.ids(q + "&key=one"), [a])
        self.assertEqual(self.ids(q + "&state=scheduled"), [b])
        self.assertEqual(self.ids(q + "&older=1h"), [])
        self.assertEqual(self.ids(q + "&state=dead"), [])
        claim = self.server.claim(self.queue)[0]["claim"]
        self.server.post("/v1/verdicts", {"verdicts": [
            {"claim": claim, "verdict": "dead", "error": "no route"}]})
        self.assertEqual(self.ids(q + "&error=route"), [a])

    def test_a_payload_comes_as_it_is_and_cannot_be_a_page(self):
        job = self.server.enqueue(self.queue, payload="<script>alert(1)</script>")
        answer = self.server.get(f"/v1/jobs/{job}/payload")
        self.assertEqual(answer.bytes, b"<script>alert(1)</script>")
        self.assertEqual(answer.headers["Content-Type"], "application/octet-stream")
        self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
        self.assertIn("sandbox", answer.headers["Content-Security-Policy"])

    def test_a_long_payload_is_cut_in_a_list_and_not_within_a_character(self):
        job = self.server.enqueue(self.queue, payload="a" + "ü" * 1000)
        shown = self.server.get(f"/v1/jobs?queue={self.queue}").json["jobs"][0]
        self.assertEqual((shown["id"], shown["payload_size"], shown["payload_cut"]),
                         (job, 2001, True))
        self.assertTrue(("a" + "ü" * 1000).startswith(shown["payload"]))

    def test_a_long_payload_that_is_not_utf8_is_cut_in_a_list_too(self):
        data = base64.b64encode(b"\x80" * 300).decode()
        self.server.post(f"/v1/queues/{self.queue}/jobs", {"payload_base64": data})
        shown = self.server.get(f"/v1/jobs?queue={self.queue}").json["jobs"][0]
        self.assertEqual(base64.b64decode(shown["payload_base64"]), b"\x80" * 256)
        self.assertTrue(shown["payload_cut"])

    def test_only_jobs_that_were_added_count_as_enqueued(self):
        name = 'readpast_http_jobs_total{what="enqueued"}'
        before = self.server.metric(name)
        for _ in range(3):
            self.server.enqueue(self.queue, unique_key="k")
        self.assertEqual(self.server.metric(name) - before, 1)

    def test_why_explains_a_job(self):
        job = self.server.enqueue(self.queue, delay="1h")
        why = self.server.get(f"/v1/jobs/{job}/why").json
        self.assertEqual(why["reason"], "not due")
        self.assertIn("is not due until", why["text"])

    def test_a_job_is_cancelled_retried_and_changed(self):
        job = self.server.enqueue(self.queue)
        dry = self.server.post(f"/v1/jobs/{job}/cancel?dry_run=1").json
        self.assertEqual((dry["jobs"], dry["examples"][0]["id"]), (1, job))
        self.assertEqual(self.server.get(f"/v1/jobs/{job}").json["state"], "ready")
        self.assertEqual(self.server.post(f"/v1/jobs/{job}/cancel").json["result"],
                         "cancelled")
        self.refused(self.server.post(f"/v1/jobs/{job}/cancel"), 409)
        self.assertEqual(self.server.post(f"/v1/jobs/{job}/retry").json["result"],
                         "retried")
        for dry in ("", "?dry_run=1"):
            self.refused(self.server.post(f"/v1/jobs/{job}/change{dry}", {}), 400)
            self.refused(self.server.post(f"/v1/jobs/{job}/change{dry}",
                                          {"queue": "missing"}), 404)
        self.server.post(f"/v1/jobs/{job}/change", {"priority": 3, "delay": "1h"})
        shown = self.server.get(f"/v1/jobs/{job}").json
        self.assertEqual((shown["priority"], shown["state"]), (3, "scheduled"))

    def test_a_dry_run_says_how_many_and_shows_three(self):
        for _ in range(5):
            self.server.enqueue(self.queue)
        path = f"/v1/queues/{self.queue}/cancel"
        dry = self.server.post(path + "?dry_run=1", {"state": "ready"}).json
        self.assertEqual((dry["jobs"], len(dry["examples"])), (5, 3))
        self.assertEqual(self.server.post(path, {"state": "ready"}).json["jobs"], 5)
        self.assertEqual(self.server.post(f"/v1/queues/{self.queue}/purge",
                                          {"state": "cancelled"}).json["jobs"], 5)

    def test_a_dry_run_examines_a_part_of_many_jobs_and_the_change_all(self):
        for kind in ["many"] * 11 + ["last"]:
            self.server.post(f"/v1/queues/{self.queue}/jobs",
                             {"jobs": [{"kind": kind}] * 1000})
        path = f"/v1/queues/{self.queue}/cancel"
        dry = self.server.post(path + "?dry_run=1", {"kind": "many"}).json
        self.assertEqual((dry["jobs"] >= 10000, dry["jobs_at_least"]), (True, True))
        dry = self.server.post(path + "?dry_run=1", {"kind": "last"}).json
        self.assertEqual((dry["jobs"], dry["jobs_at_least"]), (0, True))
        self.assertEqual(self.server.post(path, {"kind": "last"}).json["jobs"], 1000)

    def test_a_bulk_change_that_fails_later_says_that_jobs_may_be_changed(self):
        for _ in range(5):
            self.server.post(f"/v1/queues/{self.queue}/jobs", {"jobs": [{}] * 1000})
        # The jobs are cancelled from the end of the ready line.
        first = self.server.claim(self.queue)[0]
        self.server.post("/v1/verdicts",
                         {"verdicts": [{"claim": first["claim"], "verdict": "release"}]})
        if KIND == "sqlite:":
            self.server.sql("create trigger refuse before delete on {job}"
                            f" when old.id = {first['id']}"
                            " begin select raise(abort, 'refused by the test'); end")
        else:
            self.server.sql("create function {refuse}() returns trigger as $$ begin"
                            f" if old.id = {first['id']} then"
                            " raise exception 'refused by the test'; end if;"
                            " return old; end $$ language plpgsql")
            self.server.sql("create trigger refuse before delete on {job}"
                            " for each row execute function {refuse}()")
        problem = self.refused(
            self.server.post(f"/v1/queues/{self.queue}/cancel", {}), 500,
            "refused by the test", "jobs were changed")
        self.assertEqual(problem["outcome"], "unknown")
        self.server.sql("drop trigger refuse" + ("" if KIND == "sqlite:" else " on {job}"))
        left = self.server.post(f"/v1/queues/{self.queue}/cancel", {}).json["jobs"]
        self.assertTrue(0 < left < 5000, left)

    def test_dead_jobs_of_one_error_are_retried(self):
        for error in ("one", "two", "one"):
            self.server.enqueue(self.queue)
            claim = self.server.claim(self.queue)[0]["claim"]
            self.server.post("/v1/verdicts", {"verdicts": [
                {"claim": claim, "verdict": "dead", "error": error}]})
        answer = self.server.post(f"/v1/queues/{self.queue}/retry-dead", {"error": "one"})
        self.assertEqual(answer.json["jobs"], 2)
        self.assertEqual(len(self.ids(f"queue={self.queue}&state=dead")), 1)


class Queues(Case):
    def test_put_makes_a_queue_or_leaves_it_as_it_is(self):
        path = f"/v1/queues/{self.queue}"
        first = self.server.ask("PUT", path, {
            "max_attempts": 5, "lease": "90s", "keep_done": "1h", "limit": 4,
            "max_payload": "64KiB", "priority": 7, "dead_to": "dead"})
        second = self.server.ask("PUT", path, {"max_attempts": 6})
        self.assertEqual((first.status, second.status), (201, 200))
        self.assertEqual(first.json, second.json)
        for name, value in {"max_attempts": 5, "lease_ms": 90000,
                            "keep_done_ms": 3600000, "limit": 4, "max_payload": 65536,
                            "priority": 7, "dead_to": "dead"}.items():
            self.assertEqual(first.json[name], value)

    def test_put_leaves_a_queue_as_it_is_that_another_client_makes_at_the_same_time(self):
        path = f"/v1/queues/{self.queue}"
        answer = self.server.ask_during(
            [f"insert into {{queue}} (name, max_attempts) values ('{self.queue}', 7)"],
            "PUT", path, {"max_attempts": 6})
        self.assertEqual((answer.status, answer.json["max_attempts"]), (200, 7))

    def test_patch_changes_only_what_is_given(self):
        path = f"/v1/queues/{self.queue}"
        self.server.ask("PUT", path, {"max_attempts": 5, "limit": 4, "dead_to": "dead"})
        changed = self.server.ask("PATCH", path, {"lease": "5m", "limit": None,
                                                  "dead_to": None}).json
        self.assertEqual((changed["max_attempts"], changed["lease_ms"], changed["limit"],
                          changed["dead_to"]), (5, 300000, None, None))
        self.refused(self.server.ask("PATCH", path + "-no", {"lease": "5m"}), 404)

    def test_limits_of_a_queue_are_set_and_its_groups_are_listed(self):
        path = f"/v1/queues/{self.queue}"
        queue = self.server.ask("PUT", path, {
            "limit": 9, "group_limit": 1, "group_on_failure": "pass",
            "rate": "100/1m"}).json
        for name, value in {"limit": 9, "group_limit": 1, "group_on_failure": "pass",
                            "rate": "100/1m", "held_until": None}.items():
            self.assertEqual(queue[name], value, name)
        for _ in range(3):
            self.server.enqueue(self.queue, group="acme")
        self.server.enqueue(self.queue, group="beta")
        groups = self.server.get(f"/v1/groups?queue={self.queue}").json
        self.assertIsNone(groups["next"])
        self.assertEqual([(g["group"], g["blocked"], g["ready"], g["limit"])
                          for g in groups["groups"]],
                         [("acme", 2, 1, 1), ("beta", 0, 1, 1)])
        page = self.server.get(f"/v1/groups?queue={self.queue}&limit=1").json
        self.assertEqual(page["next"], "acme")
        page = self.server.get(f"/v1/groups?queue={self.queue}&after=acme").json
        self.assertEqual([g["group"] for g in page["groups"]], ["beta"])
        wrong = self.server.get(f"/v1/groups?queue={self.queue}&blocked=0")
        self.refused(wrong, 400, "expected 1 or true")
        page = self.server.get(f"/v1/groups?queue={self.queue}&blocked=true").json
        self.assertEqual([g["group"] for g in page["groups"]], ["acme"])
        blocked = self.server.get(f"/v1/jobs?queue={self.queue}&state=blocked").json
        self.assertEqual(len(blocked["jobs"]), 2)
        for name, value in {"rate": "0/1m", "group_on_failure": "stop",
                            "group_limit": -1}.items():
            answer = self.server.ask("PATCH", path, {name: value})
            self.assertEqual((answer.status, answer.json["field"]), (400, name))
        for value in (0, 100001):
            self.refused(self.server.ask("PATCH", path, {"group_limit": value}), 400,
                         "expected 1 to 100000, or null for no limit")
        queue = self.server.ask("PATCH", path, {"rate": None, "group_limit": None}).json
        self.assertEqual((queue["rate"], queue["group_limit"]), (None, None))

    def verdicts(self, *verdicts):
        return self.server.post("/v1/verdicts", {"verdicts": list(verdicts)}).json["results"]

    def test_a_queue_or_a_group_is_held_for_a_time(self):
        for group in ("acme", "other"):
            self.server.enqueue(self.queue, group=group)
        path = f"/v1/queues/{self.queue}/hold"
        held = self.server.post(path, {"group": "acme", "for": "1h"})
        self.assertEqual(held.json, {"queue": self.queue, "group": "acme",
                                     "result": "held"})
        self.assertEqual([job["group_key"] for job in self.server.claim(self.queue, max=9)],
                         ["other"])
        self.server.post(path, {"for": "1h"})
        self.assertIsNotNone(self.server.get(f"/v1/queues/{self.queue}").json["held_until"])
        self.assertEqual(self.server.post(path, {"clear": True}).json["result"], "cleared")
        self.assertEqual(self.server.claim(self.queue, max=9), [])
        self.server.post(path, {"group": "acme", "clear": True})
        self.assertEqual([job["group_key"] for job in self.server.claim(self.queue, max=9)],
                         ["acme"])

    def test_a_hold_of_the_wrong_form_is_refused(self):
        self.server.enqueue(self.queue)
        path = f"/v1/queues/{self.queue}/hold"
        for body, field in (({}, "for"), ({"clear": False}, "for"),
                            ({"for": "1s", "clear": True}, "for"), ({"for": "0s"}, "for"),
                            ({"for": "1s", "group": ""}, "group"),
                            ({"for": "1s", "group": "a\nb"}, "group"),
                            ({"for": "1s", "until": "x"}, "until")):
            answer = self.server.post(path, body)
            self.refused(answer, 400)
            self.assertEqual(answer.json["field"], field, body)
        self.assertEqual(len(self.server.claim(self.queue)), 1)
        self.refused(self.server.post("/v1/queues/no-such-queue/hold", {"for": "1s"}), 404)

    def test_a_verdict_holds_the_group_or_the_queue_of_its_job(self):
        for group in ("acme", "acme", "other"):
            self.server.enqueue(self.queue, group=group)
        first = self.server.claim(self.queue)[0]
        answer = self.verdicts({"claim": first["claim"], "verdict": "release",
                                       "hold": "group", "for": "1h"})
        self.assertEqual((answer[0]["outcome"], answer[0]["state"]), ("ok", "blocked"))
        other = self.server.claim(self.queue, max=9)
        self.assertEqual([job["group_key"] for job in other], ["other"])
        self.verdicts({"claim": other[0]["claim"], "verdict": "fail", "delay": "0s",
                              "hold": "queue", "for": "1h"})
        self.assertIsNotNone(self.server.get(f"/v1/queues/{self.queue}").json["held_until"])
        # A verdict that is refused holds nothing.
        self.server.post(f"/v1/queues/{self.queue}/hold", {"clear": True})
        gone = self.verdicts({"claim": other[0]["claim"], "verdict": "release",
                                     "hold": "queue", "for": "1h"})
        self.assertEqual(gone[0]["outcome"], "gone")
        self.assertIsNone(self.server.get(f"/v1/queues/{self.queue}").json["held_until"])

    def test_a_verdict_with_a_wrong_hold_is_refused(self):
        self.server.enqueue(self.queue)
        claim = self.server.claim(self.queue)[0]["claim"]
        for rest, field in (({"verdict": "done", "hold": "queue", "for": "1s"}, "hold"),
                            ({"verdict": "extend", "hold": "queue", "for": "1s"}, "hold"),
                            ({"verdict": "release", "hold": "all", "for": "1s"}, "hold"),
                            ({"verdict": "release", "hold": "queue"}, "for"),
                            ({"verdict": "release", "for": "1s"}, "for"),
                            ({"verdict": "fail", "hold": "group", "for": "0s"}, "for")):
            answer = self.server.post("/v1/verdicts", {"verdicts": [{"claim": claim, **rest}]})
            self.refused(answer, 400)
            self.assertEqual(answer.json["field"], f"verdicts[0].{field}", rest)
        self.assertEqual(self.verdicts({"claim": claim, "verdict": "done"})[0]["outcome"],
                         "ok")

    def test_a_queue_is_paused_and_resumed_and_dropped(self):
        self.server.enqueue(self.queue)
        path = f"/v1/queues/{self.queue}"
        paused = self.server.post(path + "/pause", {"reason": "because"}).json
        self.assertEqual(paused["pause_reason"], "because")
        self.assertEqual(self.server.claim(self.queue), [])
        self.assertIsNone(self.server.post(path + "/resume").json["paused_at"])
        self.assertEqual(len(self.server.claim(self.queue)), 1)
        self.refused(self.server.ask("DELETE", path), 409)
        # On a busy machine another session of the server may keep a lock for too long.
        self.assertTrue(eventually(
            20, lambda: self.server.post(path + "/cancel").status == 200))
        self.assertEqual(self.server.ask("DELETE", path).status, 200)
        self.refused(self.server.get(path), 404)

    if KIND == "sqlite:":
        def test_the_jobs_of_a_dropped_queue_are_deleted_after_the_answer(self):
            job = self.server.enqueue(self.queue)
            self.server.ask("DELETE", f"/v1/queues/{self.queue}")
            file = self.server.url.removeprefix("sqlite:")
            with contextlib.closing(sqlite3.connect(file)) as db:
                self.assertTrue(eventually(20, lambda: not db.execute(
                    "select 1 from readpast_job where id = ?", [job]).fetchall()))
                self.assertTrue(eventually(20, lambda: not db.execute(
                    "select 1 from readpast_dropped").fetchall()))

    def test_the_list_has_all_queues(self):
        self.server.enqueue(self.queue)
        for path in ("/v1/queues", "/v1/stats"):
            names = [q["queue"] for q in self.server.get(path).json["queues"]]
            self.assertIn(self.queue, names)


class Schedules(Case):
    def test_a_schedule_is_set_fired_paused_and_removed(self):
        path = f"/v1/schedules/{self.queue}"
        body = {"queue": "cron", "spec": "@daily", "payload": {"x": 1}, "missed": "skip"}
        made = self.server.ask("PUT", path, body)
        self.assertEqual((made.status, made.json["spec"], made.json["missed"]),
                         (201, "@daily", "skip"))
        self.assertEqual(self.server.ask("PUT", path, body).status, 200)
        fired = self.server.post(path + "/run")
        self.assertEqual(fired.status, 201)
        job = self.server.get(f"/v1/jobs/{fired.json['id']}").json
        self.assertEqual((job["queue"], job["payload"]), ("cron", '{"x":1}'))
        self.assertIsNotNone(self.server.post(path + "/pause").json["paused_at"])
        self.assertIsNone(self.server.post(path + "/resume").json["paused_at"])
        names = [s["name"] for s in self.server.get("/v1/schedules").json["schedules"]]
        self.assertIn(self.queue, names)
        self.assertEqual(self.server.ask("DELETE", path).status, 200)
        self.refused(self.server.get(path), 404)

    def test_a_schedule_with_json_has_a_content_type(self):
        path = f"/v1/schedules/{self.queue}"
        for payload, headers in (({"a": 1.10}, {"content-type": "application/json"}),
                                 ("text", None)):
            answer = self.server.ask("PUT", path, {
                "queue": self.queue, "spec": "0 3 1 1 *", "payload": payload})
            self.assertEqual(answer.json["headers"], headers)
        self.server.ask("DELETE", path)

    def test_a_wrong_spec_or_zone_is_refused_with_the_name_of_its_field(self):
        for wrong, field in (({"spec": "never"}, "spec"), ({"spec": "0 0 31 2 *"}, "spec"),
                             ({"spec": "@daily", "zone": "Mars/Base"}, "zone")):
            answer = self.server.ask("PUT", "/v1/schedules/x", {"queue": "q", **wrong})
            self.assertEqual(self.refused(answer, 400)["field"], field)

    def test_a_server_alone_fires_a_schedule_that_is_due(self):
        self.server.ask("PUT", "/v1/schedules/soon", {"queue": "soon", "spec": "every 1s"})
        self.assertTrue(eventually(10, lambda: self.server.claim("soon")))
        self.server.ask("DELETE", "/v1/schedules/soon")


class Looking(Case):
    def test_health_and_readiness(self):
        self.assertEqual(self.server.get("/healthz").json, {"status": "ok"})
        self.assertTrue(eventually(5, lambda: self.server.get("/readyz").status == 200))

    def test_the_session_says_what_the_server_is(self):
        session = self.server.get("/v1/session").json
        self.assertEqual((session["read_only"], session["hide_payloads"],
                          session["token"], session["admin"]), (False, False, None, ["*"]))

    def test_the_doctor_and_the_workers_answer(self):
        self.assertIsInstance(self.server.get("/v1/doctor").json["findings"], list)
        self.assertEqual(self.server.get("/v1/workers").json, {"workers": []})

    def test_head_is_answered_like_get_without_a_body(self):
        answer = self.server.ask("HEAD", "/v1/queues")
        self.assertEqual((answer.status, answer.bytes), (200, b""))


class Options(Case):
    options = ("--read-only", "--hide-payloads", "--prefix", "/at/here", "--access-log",
               "access")

    @classmethod
    def setUpClass(cls):
        import os
        import tempfile
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        writer = Server(cls.folder.name)
        cls.job = writer.enqueue("q", payload="secret", headers={"h": "secret"})
        url = writer.url
        writer.stop()
        cls.server = Server(cls.folder.name, *cls.options, url=url)

    def test_a_read_only_server_answers_reads_and_refuses_changes(self):
        self.assertEqual(self.server.get("/at/here/v1/queues").status, 200)
        self.refused(self.server.post("/at/here/v1/queues/q/jobs", {}), 403, "--read-only")
        self.refused(self.server.post("/at/here/v1/claim", {"queues": ["q"]}), 403)
        self.refused(self.server.post("/at/here/v1/queues/q/purge?dry_run=1", {}), 403)
        session = self.server.get("/at/here/v1/session").json
        self.assertEqual((session["read_only"], session["admin"]), (True, []))

    def test_hidden_payloads_are_nowhere(self):
        for path in (f"jobs/{self.job}", "jobs", f"jobs/{self.job}/why"):
            answer = self.server.get(f"/at/here/v1/{path}")
            self.assertEqual(answer.status, 200)
            self.assertNotIn(b"secret", answer.bytes)
        self.refused(self.server.get(f"/at/here/v1/jobs/{self.job}/payload"), 403)

    def test_paths_without_the_prefix_are_not_found(self):
        self.refused(self.server.get("/v1/queues"), 404)
        self.refused(self.server.get("/at/herev1/queues"), 404)

    def test_the_access_log_has_a_line_for_each_request(self):
        number = self.server.get("/at/here/v1/queues").headers["Readpast-Request"]

        def line():
            lines = [json.loads(text) for text in open("access")]
            return next((x for x in lines if str(x["request"]) == number), None)
        found = eventually(5, line)
        self.assertEqual((found["method"], found["target"], found["status"], found["sent"]),
                         ("GET", "/at/here/v1/queues", 200, True))


if __name__ == "__main__":
    main()
