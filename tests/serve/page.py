#!/usr/bin/env python3
"""Test the files of the dashboard that the server sends, and HTTPS.

  page.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import gzip
import http.client
import pathlib
import re
import ssl
import subprocess
import urllib.parse

from serving import Case, Server, main

PAGE = pathlib.Path(__file__).resolve().parents[2] / "web/dist"


class Files(Case):
    def test_a_file_comes_as_it_is_or_compressed(self):
        plain = self.server.get("/openapi.json")
        packed = self.server.get("/openapi.json", headers={"Accept-Encoding": "br, gzip"})
        self.assertEqual(packed.headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed.bytes), plain.bytes)
        self.assertLess(len(packed.bytes) * 3, len(plain.bytes))
        self.assertEqual(packed.headers["Vary"], "Accept-Encoding")

    def test_only_a_client_that_accepts_gzip_gets_it(self):
        for value, packed in (
                ("gzip", True), ("GZIP", True), ("gzip;q=0.5", True), ("br,gzip ; Q=1", True),
                ("*", True), ("br;q=0, *;q=0.001", True), ("*;q=0, gzip", True),
                ("gzip;q=0.010", True), (",, gzip", True),
                ("", False), ("br", False), ("nogzip", False), ("x-gzip", False),
                ("gzipped", False), ("gzip;q=0", False), ("gzip; q=0", False),
                ("br, gzip ; q = 0.000 ", False), ("gzip;q=0, *", False), ("*;q=0", False)):
            with self.subTest(value=value):
                answer = self.server.get("/openapi.json", headers={"Accept-Encoding": value})
                self.assertEqual(answer.headers["Content-Encoding"] == "gzip", packed)

    def test_a_file_that_the_client_has_is_not_sent_again(self):
        mark = self.server.get("/openapi.json").headers["ETag"]
        self.assertEqual(mark[:3], 'W/"')  # weak, because the gzip of the file has the same ETag
        for given in (mark, mark[2:], f'"x", {mark}', "*"):
            again = self.server.get("/openapi.json", headers={"If-None-Match": given})
            self.assertEqual((again.status, again.bytes), (304, b""))
        other = self.server.get("/openapi.json", headers={"If-None-Match": '"x"'})
        self.assertEqual(other.status, 200)


class Page(Case):
    def test_the_page_and_all_that_it_loads_are_answered_with_a_strict_policy(self):
        page = self.server.get("/")
        self.assertEqual((page.status, page.headers["Content-Type"]),
                         (200, "text/html; charset=utf-8"))
        self.assertIn("default-src 'self'", page.headers["Content-Security-Policy"])
        names = re.findall(r'(?:src|href)="\./([^"]+)"', page.bytes.decode())
        self.assertIn("app.js", names)
        for name in names:
            answer = self.server.get("/" + name)
            self.assertEqual((answer.status, answer.bytes), (200, (PAGE / name).read_bytes()))


class Prefix(Case):
    options = ("--prefix", "/my/queue")

    def test_the_prefix_without_a_slash_leads_to_the_page(self):
        for query in ("", "?a=1&b=%20"):
            answer = self.server.get("/my/queue" + query)
            self.assertEqual((answer.status, answer.headers["Location"]),
                             (308, "/my/queue/" + query))
        self.assertEqual(self.server.get("/my/queue/openapi.json").status, 200)

    def test_the_description_of_the_api_names_a_url_with_the_prefix(self):
        path = "/my/queue/openapi.json"
        servers = self.server.get(path).json["servers"]
        url = urllib.parse.urljoin(f"http://{self.server.host}{path}", servers[0]["url"])
        base = urllib.parse.urlsplit(url).path.removesuffix("/")
        self.assertEqual(self.server.get(base + "/v1/stats").status, 200)

    def test_a_foreign_host_is_refused_with_every_path(self):
        for path in ("/my/queue", "/my/queue/", "/none", "/my/queue/v1/%zz"):
            answer = self.server.get(path, headers={"Host": "a.example"})
            self.refused(answer, 421, "a.example")


class Https(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pathlib.Path(cls.folder.name)
        cls.cert, cls.key = folder / "cert.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                        "-subj", "/CN=localhost", "-keyout", cls.key, "-out", cls.cert,
                        "-days", "2"], check=True, capture_output=True)

    def test_a_server_with_a_certificate_speaks_https_only(self):
        own = Server(self.folder.name, "--tls-cert", self.cert, "--tls-key", self.key)
        context = ssl.create_default_context(cafile=self.cert)
        context.check_hostname = False
        secure = http.client.HTTPSConnection(own.host, own.port, timeout=20, context=context)
        for _ in range(3):
            job = own.post("/v1/queues/q/jobs", {"payload": "x" * 100000},
                           connection=secure)
            self.assertEqual(job.status, 201)
        jobs = own.post("/v1/claim", {"queues": ["q"], "max": 3, "wait": "5s"},
                        connection=secure).json["jobs"]
        self.assertEqual([len(j["payload"]) for j in jobs], [100000] * 3)
        with self.assertRaises((OSError, http.client.HTTPException)):
            own.get("/healthz", connection=own.connect())
        secure.close()
        self.assertEqual(own.stop(), 0)

    def test_a_certificate_that_cannot_be_read_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "missing.pem"):
            Server(self.folder.name, "--tls-cert", "missing.pem", "--tls-key", self.key)


if __name__ == "__main__":
    main()
