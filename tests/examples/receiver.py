"""An HTTP server for the tests of examples. It is sometimes slow, busy or broken, as
servers on the internet are.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import collections
import http.server
import threading
import time

LONG = 1.5  # seconds; longer than the leases of the tests


class Receiver(http.server.ThreadingHTTPServer):
    """The web server that the examples call. GET /N returns a page of N bytes. Every
    tenth page takes LONG seconds. POST does something once for each Idempotency-Key.
    The first request with a key gets 429 with Retry-After: 1 if 3 divides the key, and
    500 if only 5 divides it. A body with the word `bad` always gets 400."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = collections.defaultdict(list)  # key: [(time, status)]
        self.done = {}  # key: body
        self.lock = threading.Lock()
        self.url = "http://127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, key, body):
        with self.lock:
            asked = self.requests[key]
            if b"bad" in body:
                status = 400
            elif not asked and int(key) % 3 == 0:
                status = 429
            elif not asked and int(key) % 5 == 0:
                status = 500
            else:
                status = 200
                assert self.done.setdefault(key, body) == body
            asked.append((time.monotonic(), status))
            return status

    def too_early(self):
        """Return the keys of requests that were repeated within a second after the
        answer 429."""
        return [key for key, asked in self.requests.items()
                for (at, status), (again, _) in zip(asked, asked[1:])
                if status == 429 and again < at + 0.99]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        n = int(self.path[1:])
        time.sleep(LONG if n % 10 == 0 else 0.02)
        self.send_response(200)
        self.send_header("Content-Length", str(n))
        self.end_headers()
        self.wfile.write(b"x" * n)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.03)
        self.send_response(self.server.answer(self.headers["Idempotency-Key"], body))
        self.send_header("Content-Length", "0")
        self.send_header("Retry-After", "1")
        self.end_headers()

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # the client was killed

    def log_message(self, *_):
        pass
