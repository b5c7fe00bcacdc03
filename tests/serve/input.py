#!/usr/bin/env python3
"""Test the HTTP API with invalid input. Each refusal names the wrong field, and nothing
has changed.

  input.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from serving import READPAST, Answer, Case, Server, main

LONG = "x" * 256
WRONG_JOBS = [  # a job, and the field that the refusal must name
    ({"nonsense": 1}, "nonsense"),
    ({"kind": 1}, "kind"), ({"kind": ""}, "kind"), ({"kind": "k" * 129}, "kind"),
    ({"kind": "a\0b"}, "kind"), ({"kind": ["a"]}, "kind"),
    ({"priority": "1"}, "priority"), ({"priority": -1}, "priority"),
    ({"priority": 256}, "priority"), ({"priority": 1.5}, "priority"),
    ({"delay": 5}, "delay"), ({"delay": "5 fortnights"}, "delay"),
    ({"delay": "-1s"}, "delay"), ({"delay": "9999999d"}, "delay"),
    ({"run_at": "tomorrow"}, "run_at"), ({"run_at": 5}, "run_at"),
    ({"max_attempts": 0}, "max_attempts"), ({"max_attempts": True}, "max_attempts"),
    ({"unique_key": LONG}, "unique_key"), ({"group": LONG}, "group"),
    ({"headers": []}, "headers"), ({"headers": "{}"}, "headers"),
    ({"replace": 1}, "replace"), ({"replace": "true"}, "replace"),
    ({"payload_base64": "!"}, "payload_base64"), ({"payload_base64": 1}, "payload_base64"),
    ({"timeout": "0s"}, "timeout"), ({"expire": "0"}, "expire"), ({"keep": 1}, "keep"),
    ({"kind": "a\n"}, "kind"), ({"group": "\x7f"}, "group"),
    ({"unique_key": "\x01"}, "unique_key"), ({"replace": True}, "replace"),
    ({"unique_for": "1h"}, "unique_for"), ({"expire": "1h", "delay": "2h"}, "expire"),
    ({"delay": "1s", "run_at": "2026-01-31T18:00:00Z"}, "run_at"),
    ({"payload": 1, "payload_base64": "eA=="}, "payload_base64"),
    ({"backoff": "1s"}, "backoff"), ({"backoff": []}, "backoff"),
    ({"backoff": ["1s", "x"]}, "backoff[1]"),
]
WRONG_VERDICTS = [
    ({}, "verdict"), ({"verdict": "maybe"}, "verdict"), ({"verdict": 1}, "verdict"),
    ({"verdict": "done"}, "claim"), ({"verdict": "done", "claim": "5"}, "claim"),
    ({"verdict": "done", "claim": "a:b"}, "claim"), ({"verdict": "done", "id": 1}, "claim"),
    ({"verdict": "done", "id": "1", "claim_no": 1}, "id"),
    ({"verdict": "done", "id": 1, "claim_no": -1}, "claim_no"),
    ({"verdict": "done", "claim": "1:1", "id": 1, "claim_no": 1}, "claim"),
    ({"verdict": "done", "claim": "1:1", "delay": "1s"}, "delay"),
    ({"verdict": "done", "claim": "1:1", "error": "x"}, "error"),
    ({"verdict": "done", "claim": "1:1", "progress": "x"}, "progress"),
    ({"verdict": "fail", "claim": "1:1", "result": "x"}, "result"),
    ({"verdict": "fail", "claim": "1:1", "lease": "1s"}, "lease"),
    ({"verdict": "extend", "claim": "1:1", "lease": "0s"}, "lease"),
    ({"verdict": "fail", "claim": "1:1", "progress": "x" * 5000}, "progress"),
    ({"verdict": "done", "claim": "1:1", "more": 1}, "more"),
]
WRONG_CLAIMS = [
    ({}, "queues"), ({"queues": "q"}, "queues"), ({"queues": []}, "queues"),
    ({"queues": [1]}, "queues[0]"), ({"queues": ["q", ""]}, "queues[1]"),
    ({"queues": ["q" * 129]}, "queues[0]"), ({"queues": ["q"] * 101}, "queues"),
    ({"queues": ["q"], "max": 0}, "max"), ({"queues": ["q"], "max": 1001}, "max"),
    ({"queues": ["q"], "max": "1"}, "max"), ({"queues": ["q"], "wait": "61s"}, "wait"),
    ({"queues": ["q"], "wait": 1}, "wait"), ({"queues": ["q"], "lease": "0s"}, "lease"),
    ({"queues": ["q", "a\x01"]}, "queues[1]"), ({"queues": ["q"], "worker": "\n"}, "worker"),
    ({"queues": ["q"], "worker": ""}, "worker"), ({"queues": ["q"], "x": 1}, "x"),
]
WRONG_SETTINGS = [
    ({"lease": 90}, "lease"), ({"lease": "0s"}, "lease"), ({"max_attempts": 0}, "max_attempts"),
    ({"priority": 300}, "priority"), ({"limit": -1}, "limit"), ({"limit": "many"}, "limit"),
    ({"limit": 0}, "limit"), ({"group_limit": 0}, "group_limit"),
    ({"max_payload": "huge"}, "max_payload"), ({"dead_to": 1}, "dead_to"),
    ({"dead_to": "a\n"}, "dead_to"),
    ({"keep_done": "1 week"}, "keep_done"), ({"lease_ms": 5}, "lease_ms"),
]
WRONG_QUERIES = [
    ("/v1/jobs?state=bad", "state"), ("/v1/jobs?limit=0", "limit"),
    ("/v1/jobs?limit=201", "limit"), ("/v1/jobs?cursor=x", "cursor"),
    ("/v1/jobs?older=x", "older"), ("/v1/jobs?more=1", "more"),
    ("/v1/jobs?queue=", "queue"), ("/v1/jobs?queue=" + "q" * 129, "queue"),
    ("/v1/jobs?kind=", "kind"), ("/v1/jobs?kind=" + "k" * 129, "kind"),
    ("/v1/jobs?key=", "key"), ("/v1/jobs?key=" + LONG, "key"),
    ("/v1/jobs?group=", "group"), ("/v1/jobs?group=" + LONG, "group"),
    ("/v1/jobs?error=", "error"), ("/v1/jobs?error=" + "e" * 4097, "error"),
    ("/v1/jobs?kind=a&kind=b", "kind"), ("/v1/jobs/x", "id"), ("/v1/jobs/-1", "id"),
    ("/v1/jobs/1/outcome?wait=61s", "wait"), ("/v1/stats?x=1", "x"),
    ("/v1/doctor?long=x", "long"), ("/v1/queues?x", "x"), ("/v1/groups", "queue"),
    *((f"/v1/{what}?queue={name}", "queue") for what in ("jobs", "stats", "groups")
      for name in ("", "q" * 129, "%01")),
    *((f"/v1/events?queues={names}", "queues")
      for names in ("", "a,", ",a", "a,,b", "a," + "q" * 129)),
]


class Fields(Case):
    def check(self, path, cases, wrap=lambda body: body, where="", method="POST"):
        for body, field in cases:
            with self.subTest(path=path, body=str(body)[:100]):
                answer = self.server.ask(method, path, wrap(body))
                problem = self.refused(answer, 400, field.split("[")[0])
                self.assertIn(field, problem["detail"])
                if where:
                    self.assertTrue(problem["field"].startswith(where), problem)

    def test_each_wrong_field_of_a_new_job_is_named(self):
        self.check(f"/v1/queues/{self.queue}/jobs", WRONG_JOBS)
        self.refused(self.server.get(f"/v1/queues/{self.queue}"), 404)

    def test_each_wrong_field_of_one_of_many_jobs_is_named_with_its_place(self):
        self.check(f"/v1/queues/{self.queue}/jobs", WRONG_JOBS,
                   lambda job: {"jobs": [{"payload": "good"}, job]}, "jobs[1]")
        self.refused(self.server.get(f"/v1/queues/{self.queue}"), 404)

    def test_each_wrong_field_of_a_verdict_is_named(self):
        self.check("/v1/verdicts", WRONG_VERDICTS, lambda v: {"verdicts": [v]},
                   "verdicts[0]")

    def test_each_wrong_field_of_a_claim_is_named(self):
        self.check("/v1/claim", WRONG_CLAIMS)
        self.check("/v1/settle-and-claim", WRONG_CLAIMS)

    def test_each_wrong_setting_is_named(self):
        self.check(f"/v1/queues/{self.queue}", WRONG_SETTINGS, method="PUT")
        self.refused(self.server.get(f"/v1/queues/{self.queue}"), 404)

    def test_the_job_that_the_database_refuses_is_named(self):
        late = {"expire": "1s", "run_at": "2100-01-01T00:00:00Z"}
        answer = self.server.post(f"/v1/queues/{self.queue}/jobs",
                                  {"jobs": [{"payload": "good"}, late]})
        self.assertEqual(self.refused(answer, 400)["field"], "jobs[1]")
        answer = self.server.post(f"/v1/queues/{self.queue}/jobs", late)
        self.assertEqual(self.refused(answer, 400)["field"], "expire")
        self.refused(self.server.get(f"/v1/queues/{self.queue}"), 404)

    def test_a_result_that_is_too_large_is_named(self):
        for name, value in ("result", "x" * 65537), ("result_base64", "A" * 87388):
            answer = self.server.post("/v1/verdicts", {"verdicts": [
                {"verdict": "done", "claim": "1:1", name: value}]})
            self.assertEqual(self.refused(answer, 413)["field"], f"verdicts[0].{name}")

    def test_a_queue_cannot_be_its_own_dead_to(self):
        answer = self.server.ask("PUT", f"/v1/queues/{self.queue}", {"dead_to": self.queue})
        self.assertEqual(self.refused(answer, 400)["field"], "dead_to")

    def test_each_wrong_parameter_of_a_query_is_named(self):
        for path, field in WRONG_QUERIES:
            with self.subTest(path=path):
                self.assertEqual(self.refused(self.server.get(path), 400)["field"], field)

    def test_empty_parts_of_a_query_are_ignored(self):
        for path in ("/v1/jobs?", "/v1/jobs?&limit=5", "/v1/jobs?limit=5&",
                     "/v1/jobs?state=dead&&limit=5" + "&" * 20):
            with self.subTest(path=path):
                self.assertEqual(self.server.get(path).status, 200)
        self.refused(self.server.get("/v1/jobs?=5"), 400)

    def test_lists_that_are_too_long_or_empty_are_refused(self):
        path = f"/v1/queues/{self.queue}/jobs"
        for jobs in ([], [{}] * 1001, {}, "x"):
            self.refused(self.server.post(path, {"jobs": jobs}), 400, "jobs")
        for verdicts in ([], [{"claim": "1:1", "verdict": "done"}] * 1001, 5):
            self.refused(self.server.post("/v1/verdicts", {"verdicts": verdicts}), 400,
                         "verdicts")

    def test_a_body_that_is_not_one_json_object_is_refused(self):
        for body in (b"", b"{", b"[]", b"null", b"5", b'"x"', b"{} {}", b'{"a":1,"a":2}',
                     b'{"kind":"\xff"}', b'{"kind":"\\ud800"}', b"{'a':1}", b'{"a":01}',
                     b'{"payload":' + b"[" * 5000 + b"]" * 5000 + b"}",
                     b'{"k\\u0000":1}', b'{"priority":99999999999999999999}'):
            with self.subTest(body=body[:40]):
                for path in (f"/v1/queues/{self.queue}/jobs", "/v1/claim", "/v1/verdicts"):
                    self.refused(self.server.post(
                        path, body, headers={"Content-Type": "application/json"}), 400,
                        "body")

    def test_wrong_headers_of_a_raw_payload_are_named(self):
        for name, value, word in (("Readpast-Priority", "high", "priority"),
                                  ("Readpast-Max-Attempts", "1k", "max_attempts"),
                                  ("Readpast-Max-Attempts", "", "max_attempts"),
                                  ("Readpast-Nonsense", "1", "Nonsense"),
                                  ("Readpast-Payload", "1", "Payload"),
                                  ("Readpast-Delay", "x", "delay"),
                                  ("Readpast-Headers", "{", "headers"),
                                  ("Readpast-Headers", "[]", "headers: expected an object"),
                                  ("Readpast-Headers", "5", "headers: expected an object"),
                                  ("Readpast-Backoff", "1s", "backoff: the header is not JSON"),
                                  ("Readpast-Backoff", '"1s"', "backoff: expected a list"),
                                  ("Readpast-Replace", "yes", "replace")):
            with self.subTest(name=name, value=value):
                answer = self.server.post(f"/v1/queues/{self.queue}/jobs", b"x",
                                          headers={"Content-Type": "text/plain", name: value})
                self.refused(answer, 400, word)

    def test_a_body_of_delete_has_no_fields(self):
        self.server.enqueue(self.queue)
        path = f"/v1/queues/{self.queue}"
        self.assertEqual(self.refused(self.server.ask("DELETE", path, {"x": 1}), 400)["field"],
                         "x")
        self.assertEqual(self.server.ask("DELETE", path, {}).status, 200)

    def test_an_error_about_a_long_name_is_cut_between_two_characters(self):
        for name in ("a" + "\u00e9" * 60, "\u20ac" * 60, "a" * 98 + "\U0001f600"):
            with self.subTest(name=name):
                problem = self.refused(self.server.post(
                    f"/v1/queues/{self.queue}/jobs", {name: 1}), 400, "unknown field")
                self.assertEqual(problem["field"][:30], name[:30])

    def post_raw(self, *headers):
        """Return the answer to a raw payload with these headers, as (name, value)."""
        connection = self.server.connect()
        connection.putrequest("POST", f"/v1/queues/{self.queue}/jobs")
        for name, value in headers:
            connection.putheader(name, value)
        connection.putheader("Content-Length", "0")
        connection.endheaders()
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def test_a_header_of_a_raw_payload_that_is_given_twice_is_refused(self):
        answer = self.post_raw(("Readpast-Kind", "one"), ("Readpast-Kind", "two"))
        self.refused(answer, 400, "kind", "twice")

    def test_a_header_that_a_job_cannot_have_as_it_is_is_refused(self):
        name = "ce-" + "x" * 60
        for headers, field in (([("ce-id", "1"), ("CE-Id", "2")], "ce-id"),
                               ([("Content-Type", "a/b"), ("Content-Type", "a/b")],
                                "content-type"),
                               ([("traceparent", "1"), ("traceparent", "2")], "traceparent"),
                               ([("ce-id", b"\xff")], "ce-id"),
                               ([("Content-Type", b"a/b; c=\xe9")], "content-type"),
                               ([("tracestate", "a=1"), ("tracestate", b"\xff")],
                                "tracestate"),
                               ([(name + "a", "1")], name + "a")):
            with self.subTest(headers=headers):
                problem = self.refused(self.post_raw(*headers), 400, field)
                self.assertEqual(problem["field"], field)
        self.assertEqual(self.server.claim(self.queue), [])
        # Names that a job does not get may be of any form.
        self.assertEqual(self.post_raw((name, "1"), ("x-" + "y" * 90, b"\xff")).status, 201)
        self.assertEqual(self.server.claim(self.queue)[0]["headers"], {name: "1"})

    def test_the_list_in_tracestate_may_be_split_among_several_headers(self):
        self.post_raw(("tracestate", "a=1,b=2"), ("tracestate", "c=3"))
        self.assertEqual(self.server.claim(self.queue)[0]["headers"],
                         {"tracestate": "a=1,b=2,c=3"})

    def test_a_payload_larger_than_the_queue_allows_is_413(self):
        self.server.ask("PUT", f"/v1/queues/{self.queue}", {"max_payload": 10})
        answer = self.server.post(f"/v1/queues/{self.queue}/jobs", {"payload": "x" * 11})
        self.refused(answer, 413)
        self.assertEqual(self.server.claim(self.queue), [])


class Paths(Case):
    def test_tricks_with_paths_find_nothing(self):
        for path in ("/v1", "/v1/", "//v1/queues", "/v1//queues", "/v1/queues/",
                     "/v1/queues//jobs", "/v1/../v1/queues", "/v1/queues/a/b/c/d/e/f/g",
                     "/V1/queues", "/v1/jobs/1/", "/v1%2Fqueues", "/etc/passwd",
                     "/assets/../../etc/passwd", "/%2e%2e/etc/passwd"):
            with self.subTest(path=path):
                self.refused(self.server.get(path), 404)

    def test_escapes_that_are_not_valid_are_refused(self):
        for path in ("/v1/queues/%", "/v1/queues/%1", "/v1/queues/%zz", "/v1/queues/%00",
                     "/v1/queues/%ff", "/v1/queues?%", "/v1/jobs?kind=%ff"):
            with self.subTest(path=path):
                self.refused(self.server.get(path), 400)

    def test_a_name_that_no_queue_may_have_is_refused(self):
        for name in ("%01", "%0A", "x" * 129):
            self.refused(self.server.post(f"/v1/queues/{name}/jobs", {}), 400)

    def test_a_method_that_a_path_does_not_have_is_405_and_says_which_it_has(self):
        for method, path, allow in (("POST", "/v1/stats", "GET, HEAD"),
                                    ("GET", "/v1/claim", "POST"),
                                    ("DELETE", "/v1/jobs/1", "GET, HEAD"),
                                    ("PUT", "/v1/queues/q/jobs", "POST"),
                                    ("POST", "/icon.svg", "GET, HEAD"),
                                    ("PATCH", "/", "GET, HEAD"),
                                    ("PATCH", "/v1/session", "GET, HEAD, POST, DELETE"),
                                    ("BREW", "/v1/queues/q",
                                     "GET, HEAD, PUT, PATCH, DELETE")):
            answer = self.server.ask(method, path)
            self.refused(answer, 405)
            self.assertEqual(answer.headers["Allow"], allow)


class Wire(Case):
    options = ("--body", "64KiB", "--time", "2s")

    def head(self, *lines, method=b"POST", path=b"/v1/queues/w/jobs"):
        host = b"Host: %s:%d" % (self.server.host.encode(), self.server.port)
        return b"\r\n".join([method + b" " + path + b" HTTP/1.1", host, *lines, b"", b""])

    def alive(self):
        self.assertEqual(Server.get(self.server, "/healthz",
                                    connection=self.server.connect()).status, 200)

    def status(self, data):
        got = self.server.raw(data)
        return int(got.split()[1]) if got else 0

    def jobs(self):
        return [q for q in Server.get(self.server, "/v1/queues",
                                      connection=self.server.connect()).json["queues"]
                if q["queue"] == "w"]

    def test_headers_that_are_not_utf8_are_refused_with_an_error_that_quotes_them(self):
        host = b"Host: %s:%d" % (self.server.host.encode(), self.server.port)
        for lines, status, word in (((b"Host: \xff",), 421, "?"),
                                    ((host, b"Origin: http://\xff"), 403, "http://?"),
                                    ((host, b"Readpast-\xff: x"), 400, "Readpast-?")):
            with self.subTest(lines=lines):
                got = self.server.raw(b"\r\n".join(
                    [b"POST /v1/queues/w/jobs HTTP/1.1", *lines, b"Connection: close",
                     b"Content-Length: 0", b"", b""]))
                self.assertEqual(int(got.split()[1]), status)
                problem = json.loads(got.partition(b"\r\n\r\n")[2])
                self.assertIn(word, problem["detail"])

    def problem(self, data, status):
        """Check that the answer is an error, and that the server closes the connection
        after it without waiting."""
        began = time.monotonic()
        head, _, body = self.server.raw(data).partition(b"\r\n\r\n")
        self.assertLess(time.monotonic() - began, 1.5)
        self.assertEqual(int(head.split()[1]), status, head)
        self.assertIn(b"Content-Type: application/problem+json", head)
        self.assertIn(b"Readpast-Request: ", head)
        self.assertEqual(json.loads(body)["status"], status)

    def test_control_characters_and_spaces_are_refused(self):
        for path in (b"/v1/queues/w x/jobs", b"/v1/queues/w\tx/jobs", b"/v1/queues/w\rx/jobs",
                     b"/v1/queues/w/jobs\x7f"):
            with self.subTest(path=path):
                self.problem(self.head(b"Content-Length: 0", path=path), 400)
        for line in (b"Readpast-Kind: a\rb", b"Readpast-Kind: a\x01"):
            with self.subTest(line=line):
                self.problem(self.head(line, b"Content-Length: 0"), 400)
        self.assertEqual(self.jobs(), [])

    def test_spaces_around_a_value_and_a_head_sent_in_pieces_are_taken(self):
        head = self.head(b"Readpast-Kind: \t  \xc3\xa9", b"Readpast-Group:g  ",
                         b"Connection: close", b"Content-Length: 1",
                         path=b"/v1/queues/spaces/jobs?")
        with socket.create_connection((self.server.host, self.server.port)) as s:
            for at in range(0, len(head), 40):
                s.sendall(head[at:at + 40])
                time.sleep(0.02)
            s.sendall(b"x")
            self.assertIn(b"201 Created", s.recv(4096))
        job = Server.get(self.server, "/v1/jobs?queue=spaces",
                         connection=self.server.connect()).json["jobs"][0]
        self.assertEqual((job["kind"], job["group_key"]), ("\u00e9", "g"))
        own = f"Host:  {self.server.host}:{self.server.port}\t \r\n".encode()
        for lines in (b"", b"Origin: http://" + own[7:], b"Accept-Encoding: gzip \r\n"):
            self.assertEqual(self.status(b"GET /healthz HTTP/1.1\r\n" + own + lines
                                         + b"Connection: close \r\n\r\n"), 200, lines)

    def test_a_header_that_is_continued_on_the_next_line_is_refused(self):
        hidden = self.head(b"Content-Length: 0")
        length = str(len(hidden)).encode()
        for lines in ((b"Content-Length:", b" " + length), (b"Content-Length: 1", b" 5"),
                      (b"Content-Length: " + length, b"\t0"), (b"Origin: http://evil", b" x"),
                      (b"Transfer-Encoding:", b" chunked"), (b"Content-: 15", b" Length"),
                      (b"Authoriz: Bearer x", b" ation"), (b"X: y", b" z")):
            with self.subTest(lines=lines):
                self.problem(self.head(*lines) + hidden, 400)
        self.assertEqual(self.jobs(), [])

    def test_a_refused_request_without_a_body_keeps_the_connection(self):
        request = self.head(b"Content-Length: 0", path=b"/nope")
        got = self.server.raw(request + self.head(b"Connection: close", method=b"GET",
                                                  path=b"/healthz"))
        self.assertEqual(got.count(b"HTTP/1.1 404"), 1)
        self.assertEqual(got.count(b"HTTP/1.1 200"), 1)

    def test_a_header_whose_name_is_not_valid_is_refused(self):
        smuggled = self.head(method=b"GET", path=b"/healthz")
        length = b"%d" % len(smuggled)
        for lines in ((b"Content-Length : " + length,), (b"Content-Length\t: " + length,),
                      (b"Content-Length: " + length, b"Transfer-Encoding : chunked"),
                      (b" Content-Length: " + length,), (b"a(b: c",)):
            with self.subTest(lines=lines):
                self.problem(self.head(*lines) + smuggled, 400)
        self.assertEqual(self.jobs(), [])

    def test_a_body_with_a_content_encoding_is_415(self):
        for path in ("/v1/queues/coded/jobs", "/v1/claim", "/v1/verdicts"):
            for value in ("gzip", "br", "identity, gzip", "GZIP"):
                with self.subTest(path=path, value=value):
                    answer = self.server.post(path, b"x", connection=self.server.connect(),
                                              headers={"Content-Encoding": value})
                    self.refused(answer, 415, value)
        self.refused(self.server.get("/v1/queues/coded"), 404)
        answer = self.server.post(f"/v1/queues/{self.queue}/jobs", b"x",
                                  headers={"Content-Encoding": "Identity"})
        self.assertEqual(answer.status, 201)
        answer = self.server.get("/healthz", headers={"Content-Encoding": "gzip"})
        self.assertEqual(answer.status, 200)

    def test_a_transfer_encoding_other_than_chunked_is_501(self):
        for encoding in (b"gzip", b"xchunked", b"gzip, chunked", b"chunked, gzip", b"chunked ",
                         b"chunked\t", b""):
            with self.subTest(encoding=encoding):
                self.problem(self.head(b"Transfer-Encoding: " + encoding)
                             + b"0\r\n\r\n", 501)
        self.assertEqual(self.jobs(), [])

    def test_two_lengths_and_a_length_beside_chunks_are_refused(self):
        chunk = b"1\r\nx\r\n0\r\n\r\n"
        for lines, body in (((b"Content-Length: 1", b"Content-Length: 1"), b"x"),
                            ((b"Content-Length: 1", b"Content-Length: 5"), b"xxxxx"),
                            ((b"Content-Length: 1", b"Transfer-Encoding: chunked"), chunk)):
            self.assertEqual(self.status(self.head(*lines) + body), 400)
        self.assertEqual(self.jobs(), [])

    def test_a_header_that_could_have_two_values_is_refused(self):
        for name in (b"Authorization: Bearer ", b"Content-Type: ", b"idempotency-key: ",
                     b"Origin: http://"):
            self.assertEqual(self.status(self.head(name + b"a", b"Content-Length: 1",
                                                   name + b"b") + b"x"), 400, name)
        self.assertEqual(self.jobs(), [])

    def test_a_body_over_the_limit_is_413(self):
        self.assertEqual(self.status(self.head(b"Content-Length: 65537")), 413)
        answer = self.status(self.head(b"Transfer-Encoding: chunked", b"Connection: close")
                             + b"ffff\r\n" + b"x" * 0xffff + b"\r\n"
                             + b"f\r\n" + b"x" * 15 + b"\r\n0\r\n\r\n")
        self.assertEqual(answer, 413)
        self.assertEqual(self.jobs(), [])

    def test_a_body_in_chunks_is_taken(self):
        answer = self.server.raw(self.head(b"Transfer-Encoding: chunked",
                                           b"Connection: close", path=b"/v1/queues/c/jobs")
                                 + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        self.assertIn(b"201", answer.split(b"\r\n")[0])
        job = Server.post(self.server, "/v1/claim", {"queues": ["c"]},
                          connection=self.server.connect()).json["jobs"][0]
        self.assertEqual(job["payload"], "abcde")

    def test_requests_cut_at_each_byte_add_no_job(self):
        request = self.head(b"Content-Length: 5", b"Content-Type: text/plain") + b"hello"
        for n in range(len(request)):
            with socket.create_connection((self.server.host, self.server.port)) as s:
                s.sendall(request[:n])
        for n in range(1, 12):
            chunked = (self.head(b"Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n")
            with socket.create_connection((self.server.host, self.server.port)) as s:
                s.sendall(chunked[:-n])
        time.sleep(0.3)
        self.alive()
        self.assertEqual(self.jobs(), [])

    def send_and_end(self, data):
        """Send bytes, and the end of the data before the server can read the bytes.
        Return the answer and how long it took."""
        with socket.create_connection((self.server.host, self.server.port), timeout=10) as s:
            self.alive()  # so the server has accepted the connection
            self.server.process.send_signal(signal.SIGSTOP)
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            self.server.process.send_signal(signal.SIGCONT)
            began = time.monotonic()
            got = b""
            while more := s.recv(65536):
                got += more
            return got, time.monotonic() - began

    def test_a_request_that_the_client_does_not_complete_is_ended_at_once(self):
        for data in (b"POST /v1/que", self.head()[:-9],
                     self.head(b"Content-Length: 10") + b"12345",
                     self.head(b"Transfer-Encoding: chunked") + b"5\r\n123",
                     self.head(b"Transfer-Encoding: chunked") + b"5\r\n12345\r\n"):
            with self.subTest(data=data):
                got, took = self.send_and_end(data)
                self.assertEqual(got, b"")
                self.assertLess(took, 1.5)
        self.assertEqual(self.jobs(), [])

    def test_requests_that_are_complete_are_answered_after_the_end_of_the_data(self):
        one = self.head(method=b"GET", path=b"/v1/queues")
        for requests in (1, 3):
            got, took = self.send_and_end(one * requests)
            self.assertEqual(got.count(b"200 OK"), requests)
            self.assertLess(took, 1.5)

    def test_a_request_that_ends_its_data_is_answered_while_other_clients_ask(self):
        ended = threading.Event()

        def ask():
            while not ended.is_set():
                self.alive()

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            for _ in range(20):
                with socket.create_connection((self.server.host, self.server.port),
                                              timeout=10) as s:
                    s.sendall(self.head(b"Content-Length: 1", path=b"/v1/queues/end/jobs")
                              + b"x")
                    s.shutdown(socket.SHUT_WR)
                    self.assertIn(b"201 Created", s.recv(4096))
        finally:
            ended.set()
            thread.join()

    def test_the_time_of_a_request_begins_with_its_first_byte(self):
        request = self.head(b"Content-Length: 2", b"Content-Type: text/plain",
                            path=b"/v1/queues/late/jobs") + b"ab"
        with socket.create_connection((self.server.host, self.server.port), timeout=10) as s:
            for _ in range(2):
                time.sleep(1.5)
                for part in (request[:9], request[9:-1], request[-1:]):
                    s.sendall(part)
                    time.sleep(0.4)
                self.assertIn(b"201 Created", s.recv(4096))

    def test_a_hundred_thousand_headers_are_refused(self):
        lines = [b"X-%d: y" % i for i in range(100000)]
        try:
            got = self.server.raw(self.head(*lines, method=b"GET", path=b"/healthz"))
        except (BrokenPipeError, ConnectionResetError):
            got = b""
        self.assertNotIn(b"200 OK", got[:20])
        self.alive()

    def test_slow_clients_are_ended(self):
        for start in (b"", b"GET /healthz HT", self.head(b"Content-Length: 9") + b"1"):
            began = time.monotonic()
            with socket.create_connection((self.server.host, self.server.port)) as s:
                s.settimeout(10)
                s.sendall(start)
                try:
                    while s.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
            self.assertLess(time.monotonic() - began, 6)

    def test_a_client_that_sends_a_byte_now_and_then_is_ended_too(self):
        began = time.monotonic()
        with socket.create_connection((self.server.host, self.server.port)) as s:
            s.settimeout(0.2)
            with self.assertRaises((BrokenPipeError, ConnectionResetError, StopIteration)):
                for byte in self.head(b"X-Long: " + b"x" * 100):
                    s.send(bytes([byte]))
                    try:
                        if not s.recv(1):
                            raise StopIteration
                    except TimeoutError:
                        pass
        self.assertLess(time.monotonic() - began, 8)

    def test_the_answer_to_HEAD_has_no_body(self):
        for path in (b"/v1/events", b"/v1/queues", b"/none"):
            got = self.server.raw(self.head(b"Connection: close", method=b"HEAD", path=path))
            self.assertIn(b"Content-Type: ", got)
            self.assertEqual(got.partition(b"\r\n\r\n")[2], b"")

    def test_a_connection_is_kept_alive_for_many_requests(self):
        connection = self.server.connect()
        connection.connect()
        socket_used = connection.sock
        for i in range(50):
            answer = self.server.get("/healthz" if i % 2 else "/none", connection=connection)
            self.assertEqual(answer.status, 200 if i % 2 else 404)
        self.assertIs(connection.sock, socket_used)
        connection.close()

    def test_pipelined_requests_are_answered_in_their_order(self):
        one = self.head(method=b"GET", path=b"/healthz")
        last = self.head(b"Connection: close", method=b"GET", path=b"/none")
        got = self.server.raw(one * 3 + last)
        self.assertEqual(got.count(b"HTTP/1.1 200 OK"), 3)
        self.assertEqual(got.count(b"HTTP/1.1 404"), 1)

    def test_noise_is_refused_and_the_server_lives(self):
        for noise in (b"\0" * 100, b"GET\r\n\r\n", b"\r\n\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                      b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10,
                      b"POST /v1/claim HTTP/1.1\r\n: x\r\n\r\n"):
            with socket.create_connection((self.server.host, self.server.port)) as s:
                s.settimeout(5)
                s.sendall(noise)
                try:
                    got = s.recv(4096)
                except (ConnectionResetError, TimeoutError):
                    got = b""
                self.assertNotIn(b" 200 ", got[:20])
        self.alive()


class Large(Case):
    def test_a_large_body_does_not_make_other_requests_wait(self):
        body = b'{"payload":[' + b'{"a":1},' * 500000 + b'1.1]}'
        answers = []

        def enqueue():
            began = time.monotonic()
            answer = self.server.post(f"/v1/queues/{self.queue}/jobs", body,
                                      headers={"Content-Type": "application/json"},
                                      connection=self.server.connect(60))
            answers.append((answer.status, time.monotonic() - began))

        thread = threading.Thread(target=enqueue)
        thread.start()
        longest = 0
        while not answers and thread.is_alive():
            began = time.monotonic()
            self.assertEqual(self.server.get("/healthz").status, 200)
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.01)
        thread.join()
        self.assertEqual(answers[0][0], 201)
        self.assertLess(longest, answers[0][1] / 2)
        self.assertEqual(self.server.claim(self.queue)[0]["payload"],
                         body[11:-1].decode())


class Options(unittest.TestCase):
    def test_a_name_a_prefix_or_an_address_that_no_request_can_have_is_refused(self):
        for *options, word in (("--host", "", "expected a name"),
                               ("--host", "a.example:8443", "without a port"),
                               ("--host", "http://a.example", "without a port"),
                               ("--host", "a b", "a b"), ("--host", "a/b", "a/b"),
                               ("--host", "[::1", "[::1"), ("--host", "[]", "[]"),
                               ("--host", "[::1]:80", "[::1]:80"),
                               ("--host", "x" * 256, "expected a name"),
                               ("--prefix", "/a b", "expected a path"),
                               ("--prefix", "/a?b", "/a?b"), ("--prefix", "/a#b", "/a#b"),
                               ("--prefix", "/a;b", "/a;b"), ("--prefix", "/\u00e9", "/"),
                               ("--prefix", "/", "/"), ("--prefix", "a", "a"),
                               ("--prefix", "//a.example", "//a.example"),
                               ("--prefix", "/a//b", "/a//b"), ("--prefix", "/a/", "/a/"),
                               ("--prefix", "/.", "/."), ("--prefix", "/a/../b", "/a/../b"),
                               ("--listen", "unix:", "expected unix:PATH")):
            with self.subTest(options=options):
                ended = subprocess.run(
                    [READPAST, "--db", "sqlite:/nonexistent/db", "serve", *options],
                    capture_output=True, text=True, timeout=20)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""))
                self.assertIn(word, ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1)

    def test_names_and_prefixes_of_other_forms_are_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder, "--host", "a-b.example", "--host", "[::1]", "--host",
                            "X_1.", "--prefix", "/.a/.../%C3%A9~b")
            answer = server.get("/.a/.../%C3%A9~b/healthz", headers={"Host": "[::1]:80"})
            self.assertEqual(answer.status, 200)
            self.assertEqual(server.stop(), 0)


class Pages(Case):
    """A web page that a user visits must not be able to call the server."""

    options = ("--host", "queue.example.com")

    def ask(self, headers):
        connection = self.server.connect()
        connection.putrequest("GET", "/v1/queues", skip_host=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        return Answer(connection.getresponse())

    def own(self):
        return f"{self.server.host}:{self.server.port}"

    def test_a_foreign_host_is_refused(self):
        for host in ("evil.com", f"evil.com:{self.server.port}", "127.0.0.1:1",
                     f"127.0.0.1.evil.com:{self.server.port}", "", "[::1", "a b"):
            with self.subTest(host=host):
                self.assertIn(self.ask([("Host", host)]).status, (400, 421))

    def test_the_port_of_a_host_has_only_digits(self):
        address = f"127.1.{os.getpid() // 256 % 256}.{os.getpid() % 254 + 1}"
        own = Server(self.folder.name, listen=f"{address}:27000")
        try:
            for port, status in (("27000", 200), ("27k", 400), ("", 400), ("+27000", 400)):
                with self.subTest(port=port):
                    got = own.raw(f"GET /healthz HTTP/1.1\r\nHost: {address}:{port}\r\n"
                                  "Connection: close\r\n\r\n".encode())
                    self.assertEqual(int(got.split()[1]), status)
        finally:
            self.assertEqual(own.stop(), 0)

    def test_own_names_are_taken(self):
        for host in (self.own(), f"localhost:{self.server.port}", "queue.example.com",
                     "QUEUE.example.com:443"):
            with self.subTest(host=host):
                self.assertEqual(self.ask([("Host", host)]).status, 200)

    def status_of(self, target, host):
        got = self.server.raw(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n"
                              "Connection: close\r\n\r\n".encode())
        return int(got.split()[1])

    def test_a_target_may_have_the_absolute_form(self):
        own = self.own()
        for target, host, status in (
                (f"http://{own}/healthz", own, 200),
                (f"HTTP://{own}/v1/jobs?limit=5", own, 200),
                ("https://queue.example.com/v1/queues", "Queue.example.com", 200),
                (f"http://{own}", own, 200), (f"http://{own}/", own, 200),
                (f"http://{own}?a=b", own, 200), (f"http://{own}/no/such", own, 404),
                (f"http://{own}/healthz", "evil.com", 421),
                ("http://evil.com/healthz", "evil.com", 421),
                ("http://evil.com/healthz", own, 421),
                (f"http://evil.com@{own}/healthz", own, 421),
                ("http:///healthz", own, 421), ("http://", own, 421),
                (f"ftp://{own}/healthz", own, 404), (f"{own}/healthz", own, 404)):
            with self.subTest(target=target, host=host):
                self.assertEqual(self.status_of(target, host), status)

    def test_two_hosts_and_none_are_refused(self):
        for headers in ([], [("Host", self.own())] * 2):
            self.refused(self.ask(headers), 400, "one header Host")

    def test_a_foreign_origin_is_refused(self):
        for origin in ("http://evil.com", "null", f"http://evil.com:{self.server.port}",
                       "http://127.0.0.1:1", "", self.own(), f"//{self.own()}",
                       f"x://{self.own()}", "ftp://queue.example.com"):
            with self.subTest(origin=origin):
                answer = self.ask([("Host", self.own()), ("Origin", origin)])
                self.refused(answer, 403)
                self.assertNotIn("Access-Control-Allow-Origin", answer.headers)

    def test_the_own_origin_is_taken(self):
        for origin in (f"http://{self.own()}", f"https://{self.own()}",
                       "https://queue.example.com"):
            answer = self.ask([("Host", self.own()), ("Origin", origin)])
            self.assertEqual(answer.status, 200)


if __name__ == "__main__":
    main()
