#!/usr/bin/env python3
"""Compare the description of the API, /openapi.json, with the server. The tests are made
from the description. Each operation is called with its example, and each answer must
match its schema. Then each member of each body gets many values. The server must accept
those that the description allows, and refuse the others.

  openapi.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import base64
import binascii
import json
import pathlib
import re
import urllib.parse

from serving import Case, eventually, main

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROUTES = SOURCE / "serve/route.c"
PAGE = SOURCE / "docs/http.md"
# The address of the server in the examples of PAGE, and the path that follows.
PLACE = re.compile(r"(?:http://127\.0\.0\.1:8080|\$api)(/[^\s'\"?]*)")
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool,
         "array": list, "object": dict, "null": type(None)}
# Values that each member of each body gets, beside those at the limits of its schema.
VALUES = ["text", 5, 1.5, 1.0, True, [], {}, -1, 0, 1, 10 ** 5 + 1, 10 ** 9 + 1, 2 ** 63 - 1, "",
          "0", "0ms", "1ms", "64KiB", "0/1m", "1/0s", "1/1m", "0:1", "1:0", "1:1", "none", "all",
          "scheduled", "ready", "blocked", "running", "done", "dead", "cancelled", "fail",
          "release", "extend", "group", "queue", "block", "pass", "once", "allow", "skip",
          *("A" * n for n in (129, 256, 4100, 87388))]
# The limits that a schema may have: the types that each is about, and how to compare.
LIMITS = {"minimum": ((int, float), lambda value, n: value >= n),
          "maximum": ((int, float), lambda value, n: value <= n),
          "minLength": (str, lambda value, n: len(value) >= n),
          "maxLength": (str, lambda value, n: len(value) <= n),
          "minItems": (list, lambda value, n: len(value) >= n),
          "maxItems": (list, lambda value, n: len(value) <= n),
          "minProperties": (dict, lambda value, n: len(value) >= n)}

# an item of each list in a body
ITEMS = {"jobs": {"payload": "x"}, "backoff": "1s", "queues": "mail",
         "verdicts": {"claim": "1:1", "verdict": "done"}}
# other members that a member needs, or that must be left out (null)
NEEDS = {"unique_for": {"unique_key": "k"}, "replace": {"unique_key": "k"},
         "payload_base64": {"payload": None}, "clear": {"for": None},
         "verdicts.id": {"claim": None, "claim_no": 1},
         "verdicts.claim_no": {"claim": None, "id": 1},
         "verdicts.delay": {"verdict": "fail"}, "verdicts.error": {"verdict": "fail"},
         "verdicts.lease": {"verdict": "extend"}, "verdicts.progress": {"verdict": "extend"},
         "verdicts.hold": {"verdict": "fail", "for": "1s"},
         "verdicts.for": {"verdict": "fail", "hold": "group"}}
# members whose texts have a grammar that a schema cannot describe
LANGUAGES = {"spec", "zone", "run_at"}


def is_base64(text):
    try:
        return base64.b64decode(text, validate=True) is not None
    except binascii.Error:
        return False


def examples():
    """Return the calls of curl in PAGE, as pairs (method, path)."""
    for line in PAGE.read_text().replace("\\\n", " ").splitlines():
        command = line.partition("curl ")[2].partition("|")[0]
        named = re.search(r"-X ([A-Z]+)", command)
        method = named[1] if named else "POST" if re.search(r" (-d|--data)", command) else "GET"
        for path in PLACE.findall(command):
            yield method.lower(), path


class Description(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api = cls.server.get("/openapi.json").json
        # a worker and a finding, so that lists of them are not empty
        cls.server.claim("others", worker="shop-3")
        cls.server.enqueue("alone")
        assert eventually(20, lambda: cls.server.get("/v1/workers").json["workers"])
        assert cls.server.get("/v1/doctor").json["findings"]

    def tearDown(self):
        self.server.post("/v1/queues/mail/cancel")  # none of its jobs runs in the next test

    def resolve(self, schema):
        while "$ref" in schema:
            schema = self.api["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def wrong(self, schema, value, place="answer"):
        """Return why a value does not match a schema, or None."""
        schema = self.resolve(schema)
        if "oneOf" in schema:
            found = [self.wrong(one, value, place) for one in schema["oneOf"]]
            return None if found.count(None) == 1 else f"{place}: {found}"
        types = schema.get("type", list(TYPES))
        types = [types] if isinstance(types, str) else types
        is_one = any(isinstance(value, TYPES[t])
                     and (isinstance(value, bool) == (t == "boolean")) for t in types)
        if not is_one:
            return f"{place}: {value!r} is not {types}"
        if "enum" in schema and value not in schema["enum"]:
            return f"{place}: {value!r} is not one of {schema['enum']}"
        if "const" in schema and value != schema["const"]:
            return f"{place}: {value!r} is not {schema['const']!r}"
        if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
            return f"{place}: {value!r} does not match {schema['pattern']}"
        if "contentEncoding" in schema and not is_base64(value):
            return f"{place}: {value!r} is not {schema['contentEncoding']}"
        for limit, (types, agrees) in LIMITS.items():
            if limit in schema and isinstance(value, types) and not isinstance(value, bool) \
                    and not agrees(value, schema[limit]):
                return f"{place}: {value!r} contradicts {limit} {schema[limit]}"
        if isinstance(value, list):
            return next(filter(None, (
                self.wrong(schema.get("items", {}), one, f"{place}[{i}]")
                for i, one in enumerate(value))), None)
        return self.wrong_members(schema, value, place) if isinstance(value, dict) else None

    def wrong_members(self, schema, value, place):
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                return f"{place}: {name} is missing"
        for name, one in value.items():
            if name not in known:
                if schema.get("additionalProperties", True) is False:
                    return f"{place}: {name} is not described"
                continue
            why = self.wrong(known[name], one, f"{place}.{name}")
            if why:
                return why
        return None

    def operations(self):
        for path, methods in self.api["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def prepare(self, path):
        """Make the queue, job or other thing that a path names. Return the path with
        the name in it."""
        self.server.ask("PUT", "/v1/queues/mail")
        self.server.ask("PATCH", "/v1/queues/mail", {"max_payload": "1MiB"})
        self.server.ask("PUT", "/v1/schedules/nightly", {"queue": "mail", "spec": "@daily"})
        job = self.server.enqueue("mail", delay="1h" if path.endswith("/change") else "0s")
        if path.endswith("/retry"):
            self.server.post(f"/v1/jobs/{job}/cancel")
        return (path.replace("{queue}", "mail").replace("{name}", "nightly")
                .replace("{id}", str(job)))

    def body_of(self, operation):
        content = operation.get("requestBody", {}).get("content", {})
        return content.get("application/json")

    def test_every_path_of_the_server_is_described_and_no_other(self):
        rows = re.findall(r'\{ "([A-Z]+)",\s*"([^"]*)",\s*THREAD', ROUTES.read_text())
        served = {(method, path) for method, path in rows}
        described = {(method, re.sub(r"\{\w+\}", "*", path.lstrip("/")))
                     for method, path, _ in self.operations()}
        self.assertEqual(served, described)
        self.assertGreater(len(served), 35)

    def test_each_operation_has_an_example_with_curl(self):
        shown = list(examples())
        for path, operations in self.api["paths"].items():
            pattern = re.sub(r"\{\w+\}", "[^/]+", path)
            for method in operations.keys() & {"get", "put", "post", "patch", "delete"}:
                with self.subTest(method=method, path=path):
                    self.assertTrue(any(m == method and re.fullmatch(pattern, p)
                                        for m, p in shown))

    def test_each_operation_answers_its_example_as_described(self):
        for method, path, operation in self.operations():
            if path in ("/", "/v1/events"):
                continue
            body = self.body_of(operation)
            parameters = operation.get("parameters", [])
            needed = "".join(f"?{p['name']}=mail" for p in parameters
                             if p["in"] == "query" and p.get("required"))
            for query in (needed, "?dry_run=1"):
                if query != needed and not any(p["name"] == "dry_run"
                                               for p in parameters):
                    continue
                with self.subTest(method=method, path=path + query):
                    answer = self.server.ask(method, self.prepare(path) + query,
                                             body and body.get("example", {}))
                    response = operation["responses"].get(str(answer.status))
                    self.assertIsNotNone(response, answer)
                    kind = answer.headers["Content-Type"].split(";")[0]
                    self.assertIn(kind, response["content"])
                    if kind == "application/json":
                        schema = response["content"][kind]["schema"]
                        self.assertIsNone(self.wrong(schema, answer.json))
                    if path == "/v1/queues/{queue}" and method == "DELETE":
                        self.assertEqual(answer.json["result"], "dropped")

    def test_each_problem_is_described(self):
        schema = self.api["components"]["schemas"]["Problem"]
        for answer in (self.server.get("/none"), self.server.get("/v1/jobs/x"),
                       self.server.get("/v1/queues/unknown"), self.server.post("/v1/stats"),
                       self.server.get("/v1/jobs/123456"),
                       self.server.get("/v1/queues", headers={"Origin": "x"})):
            self.assertIsNone(self.wrong(schema, answer.json))

    def test_why_a_job_does_not_run_is_described_for_jobs_in_each_state(self):
        schema = self.api["components"]["schemas"]["Why"]
        self.server.ask("PUT", "/v1/queues/limited",
                        {"group_limit": 1, "limit": 5, "rate": "100/1m", "keep_done": "1h"})
        jobs = [self.server.enqueue("limited", **job) for job in (
            {}, {"group": "a"}, {"group": "a"}, {"delay": "1h"}, {"priority": 200})]
        done, _ = self.server.claim("limited", max=2, worker="shop-3")
        self.server.post("/v1/verdicts", {"verdicts": [
            {"claim": done["claim"], "verdict": "done"}]})
        found = [self.server.get(f"/v1/jobs/{job}/why").json for job in jobs]
        self.assertEqual([why["state"] for why in found],
                         ["done", "running", "blocked", "scheduled", "ready"])
        self.assertEqual(found[2]["group_next"]["id"], jobs[1])
        for why in found:
            self.assertIsNone(self.wrong(schema, why))
            self.assertEqual(why.keys(), schema["properties"].keys())

    def schemas_of(self, schema):
        schema = self.resolve(schema)
        return [self.resolve(one) for one in schema.get("oneOf", [schema])]

    def bodies(self):
        """Yield each schema of a request's body, with a path that can be asked, and with
        an example."""
        for method, path, operation in self.operations():
            body = self.body_of(operation)
            if not body:
                continue
            real = self.prepare(path)
            for schema in self.schemas_of(body["schema"]):
                yield method, path, real, schema, body.get("example", {})

    def members(self, schema, example):
        """Yield each member of a body, and of the objects in its lists: the field that the
        server calls it, its name, its schema, and a function that makes a body with it."""
        base = {name: example[name] for name in example.keys() & schema["properties"]}
        for name, member in {**schema["properties"], "undescribed": False}.items():
            yield name, name, member, lambda value, name=name: {
                **base, **NEEDS.get(name, {}), name: value}
            items = self.resolve(member.get("items", {})) if member else {}
            for inner, one in items.get("properties", {}).items():
                needs = NEEDS.get(f"{name}.{inner}" if name == "verdicts" else inner, {})
                yield f"{name}[0].{inner}", inner, one, \
                    lambda value, name=name, inner=inner, needs=needs: {
                        **base, name: [{**ITEMS[name], **needs, inner: value}]}

    def edges(self, schema, item):
        """Yield pairs of a value at a limit of the schema and one beyond it. item: for a
        list."""
        schema = self.resolve(schema)
        for limit in schema.keys() & LIMITS.keys():
            n = schema[limit]
            if "contentEncoding" in schema:
                yield "A" * (n - 2) + "==", "A" * (n + 2) + "=="
                continue
            beyond = n - 1 if limit.startswith("min") else n + 1
            unit = {"imum": 1, "Length": "x", "Items": [item]}[limit[3:]]
            yield unit * n, unit * beyond
        if schema.get("type") == "array":
            for pair in self.edges(schema["items"], None):
                yield tuple([value] for value in pair)

    def test_each_body_is_accepted_if_the_description_allows_it_and_else_refused(self):
        accepted = refused = 0
        for method, path, real, schema, example in self.bodies():
            for field, name, member, body_with in self.members(schema, example):
                edges = self.edges(member, ITEMS.get(name)) if member else ()
                for value in (*VALUES, *(value for pair in edges for value in pair)):
                    is_wrong = member is False or self.wrong(member, value)
                    if not is_wrong and name in LANGUAGES:
                        continue
                    answer = self.server.ask(method, real, body_with(value))
                    with self.subTest(method=method, path=path, field=field,
                                      value=str(value)[:100]):
                        if not is_wrong:
                            accepted += 1
                            self.assertIn(answer.status, (200, 201, 404), answer)
                        else:
                            refused += 1
                            status = 413 if answer.status == 413 and "result" in name else 400
                            problem = self.refused(answer, status)
                            self.assertTrue(problem["field"].startswith(field), answer)
        self.assertGreater(accepted, 700)
        self.assertGreater(refused, 3000)

    def test_each_body_needs_the_members_that_are_required_and_no_others(self):
        for method, path, operation in self.operations():
            body = self.body_of(operation)
            if not body or path.endswith("/hold"):
                continue  # the description of a hold says in words what it needs
            real = self.prepare(path)
            for schema in self.schemas_of(body["schema"]):
                needed = {name: body["example"].get(name, [ITEMS.get(name)])
                          for name in schema["required"]}
                for left_out in (None, *needed):
                    given = {name: needed[name] for name in needed if name != left_out}
                    answer = self.server.ask(method, real, given)
                    with self.subTest(method=method, path=path, given=list(given)):
                        if self.wrong(body["schema"], given):
                            self.refused(answer, 400)
                        else:
                            self.assertIn(answer.status, (200, 201), answer)

    def test_each_limit_of_each_parameter_is_that_of_the_server(self):
        tried = 0
        for method, path, operation in self.operations():
            for parameter in operation.get("parameters", []):
                if parameter["in"] != "query":
                    continue
                real, name = self.prepare(path), parameter["name"]
                needed = {p["name"]: "mail" for p in operation["parameters"]
                          if p["in"] == "query" and p.get("required")}
                for within, beyond in self.edges(parameter["schema"], None):
                    tried += 1
                    with self.subTest(method=method, path=path, name=name, beyond=beyond):
                        for value, statuses in (within, (200, 404)), (beyond, (400,)):
                            query = urllib.parse.urlencode({**needed, name: value})
                            answer = self.server.ask(method, f"{real}?{query}")
                            self.assertIn(answer.status, statuses, answer)
        self.assertGreater(tried, 10)

    def test_each_parameter_of_each_query_is_known_and_no_other(self):
        for method, path, operation in self.operations():
            names = [p["name"] for p in operation.get("parameters", []) if p["in"] == "query"]
            if path in ("/", "/v1/events"):
                continue
            real = self.prepare(path)
            body = self.body_of(operation)
            answer = self.server.ask(method, real + "?undescribed=1",
                                     body and body.get("example", {}))
            with self.subTest(method=method, path=path):
                if path not in ("/healthz",):
                    self.refused(answer, 400, "undescribed")
            for name in names:
                answer = self.server.ask(method, f"{real}?{name}=%01",
                                         body and body.get("example", {}))
                self.assertNotIn("no such parameter", json.dumps(answer.json), name)

    def test_the_scope_of_each_operation_is_described(self):
        for method, path, operation in self.operations():
            with self.subTest(method=method, path=path):
                self.assertTrue("security" in operation or path == "/v1/session")


if __name__ == "__main__":
    main()
