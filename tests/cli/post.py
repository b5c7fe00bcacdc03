#!/usr/bin/env python3
"""Test `readpast work QUEUE --post URL`: the payload is posted, and the status of the
answer is the verdict.

  post.py READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import datetime
import email.utils
import http.client
import http.server
import json
import os
import signal
import socket
import socketserver
import struct
import subprocess
import threading
import time

from tap import READPAST, check, run

PATIENCE = 30


class Application(http.server.BaseHTTPRequestHandler):
    """A web application. The path of a request says how it answers."""

    protocol_version = "HTTP/1.1"
    asked = []
    sockets = set()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Application.asked.append((self.path, dict(self.headers), body))
        Application.sockets.add(self.client_address)
        word, _, value = self.path.split("?")[0].lstrip("/").partition("/")
        if word == "hang":
            time.sleep(float(value))
            word = "200"
        if word in ("cut", "reset", "stall"):
            self.wfile.write(b"HTTP/1.1 %s X\r\nContent-Length: 100\r\nRetry-After: 200"
                             b"\r\n\r\nx" % (value or "200").encode())
            if word == "stall":
                self.rfile.read(1)  # until the client gives up
            if word == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           struct.pack("ii", 1, 0))
                time.sleep(0.2)
                self.connection.close()
            self.close_connection = True
            return
        if word == "head":  # the answer ends before its headers do
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self.close_connection = True
            return
        if word == "long":  # a header that is too large
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX: %s\r\n\r\n" % (b"x" * 400000))
            self.close_connection = True
            return
        if word == "noise":
            self.wfile.write(b"\0\1\2 not HTTP\r\n\r\n")
            self.close_connection = True
            return
        answer = b"nothing like it\0here\n"
        self.send_response(int(word))
        if value.startswith("in-"):
            self.send_header("Retry-After", value[3:])
        if value.startswith("at-"):
            at = time.time() + int(value[3:])
            self.send_header("Retry-After", email.utils.formatdate(at, usegmt=True))
        if word == "302":
            self.send_header("Location", "/200")
        if value == "control":
            answer = b"\x1b[2J\x1b]0;x\x07 \xff"
        if value == "large":
            answer = b"x" * 3000000
        self.send_header("Content-Length", len(answer) if word != "204" else 0)
        self.end_headers()
        if word != "204":
            self.wfile.write(answer)

    def log_message(self, *args):
        pass


class Closing(socketserver.StreamRequestHandler):
    """A server that answers the first request of each connection, and closes the
    connection after it has read the second one."""

    posted = []

    def handle(self):
        for answer in (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""):
            if not self.rfile.readline():
                return
            headers = http.client.parse_headers(self.rfile)
            Closing.posted.append(self.rfile.read(int(headers["Content-Length"])))
            self.wfile.write(answer)


def readpast(*arguments):
    return subprocess.run([READPAST, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def work(queue, url, *options, status=0):
    ran = subprocess.run([READPAST, "work", queue, "--post", url, "--drain", *options],
                         text=True, capture_output=True, timeout=PATIENCE)
    if status is not None and ran.returncode != status:
        raise AssertionError(ran)
    return ran


def show(job):
    return json.loads(readpast("show", job.strip(), "--json"))


def verdicts(base):
    """Return what became of a job for each answer."""
    answers = ("200", "201", "204", "302", "400", "404", "408", "410", "500", "502",
               "cut", "head", "long", "noise", "200/large", "500/large")
    found = {}
    for answer in answers:
        queue = "v-" + answer.replace("/", "-")
        job = readpast("enqueue", queue, "x", "--keep", "1h", "--max-attempts", "5",
                       "--backoff", "1h")
        work(queue, f"{base}/{answer}", status=None)
        found[answer] = show(job)
    return found


def test_verdicts(base):
    found = verdicts(base)
    for words, state in ((("200", "201", "204", "200/large"), "done"),
                         (("400", "404", "408", "410"), "dead"),
                         (("302", "500", "502", "cut", "head", "long", "noise", "500/large"),
                          "scheduled")):
        states = {word: found[word]["state"] for word in words}
        check(f"{', '.join(words)}: {state}", set(states.values()) == {state}, states)
    attempts = {word: found[word]["attempt"] for word in ("302", "500", "cut")}
    check("an attempt that failed is counted", set(attempts.values()) == {1}, attempts)
    check("the error has the status and the beginning of the answer",
          found["404"]["last_error"] == "HTTP status 404: nothing like it?here",
          found["404"]["last_error"])
    check("the error names headers that are too large",
          found["long"]["last_error"] == "no answer: its headers are too large",
          found["long"]["last_error"])
    check("a long answer is cut", len(found["500/large"]["last_error"]) < 1200)


def test_control(base):
    """An answer cannot control the terminal."""
    readpast("enqueue", "control", "x", "--backoff", "1h")
    ran = subprocess.run([READPAST, "work", "control", "--post", f"{base}/500/control",
                          "--drain"], capture_output=True, timeout=PATIENCE)
    shown = rb"failed, attempt 1 of 3: HTTP status 500: \x1b[2J\x1b]0;x\x07 \xff"
    check("work escapes the control characters of an answer",
          shown in ran.stderr and b"\x1b" not in ran.stderr, ran)


def test_release(base):
    for answer, least, most in (("503", 95, 101), ("429/in-500", 490, 501),
                                ("503/at-300", 290, 302), ("503/in-0", 95, 101),
                                ("429/in-999999999", 86000, 86401),
                                ("429/in-" + "9" * 23, 86000, 86401), ("cut/503", 195, 201),
                                ("reset/429", 195, 201), ("stall/503", 195, 201)):
        queue = "r-" + answer.replace("/", "-")
        job = readpast("enqueue", queue, "x",
                       "--timeout", "3s" if answer == "stall/503" else "1m")
        began = time.time()
        work(queue, f"{base}/{answer}", "--release-delay", "100s")
        ended = time.time()
        found = show(job)
        due = datetime.datetime.fromisoformat(found["run_at"]).timestamp()
        check(f"{answer}: the job is released for {least} to {most} s, and no attempt counts",
              found["attempt"] == 0 and began + least <= due <= ended + most,
              (found, began, ended))


def test_request(base):
    Application.asked.clear()
    payload = bytes(range(256)) * 1000
    with open("payload", "wb") as file:
        file.write(payload)
    with open("payload", "rb") as file:
        job = subprocess.run([READPAST, "enqueue", "bytes", "--one", "--kind", "thumb",
                              "--header", "traceparent=00-aa", "--header", "host=evil"],
                             stdin=file, check=True, stdout=subprocess.PIPE).stdout.decode()
    work("bytes", base + "/200?a=b")
    path, headers, body = Application.asked[0]
    check("the payload is the body, byte by byte", body == payload)
    check("the URL is used as it is", path == "/200?a=b", path)
    wanted = {"Readpast-Queue": "bytes", "Readpast-Job-Id": job.strip(),
              "Readpast-Attempt": "1", "Readpast-Kind": "thumb",
              "Idempotency-Key": job.strip(), "traceparent": "00-aa",
              "content-type": "application/octet-stream"}
    got = {name: headers.get(name) for name in wanted}
    check("the job's fields are in headers", got == wanted, headers)
    check("a header of the job cannot change the request", "evil" not in headers["Host"])
    readpast("enqueue", "typed", "{}", "--header", "content-type=application/json")
    readpast("enqueue", "typed", "é", "--header", "content-type=  ")
    readpast("enqueue", "typed", "", "--header", "tracestate=a\r\nX-Evil: 1")
    Application.asked.clear()
    work("typed", base + "/200")
    types = [headers["content-type"] for _, headers, _ in Application.asked]
    check("a content type is passed on; without one, a text is a text",
          types == ["application/json"] + ["text/plain; charset=utf-8"] * 2, types)
    check("a line break in a header makes no other header",
          "X-Evil" not in Application.asked[2][1], Application.asked[2][1])


def test_job_headers(base):
    """Headers of JSON have names as the user wrote them."""
    state = "a=" + "x" * 3000
    readpast("enqueue", "named", "{}", "--header", "Content-Type=application/json",
             "--header", "TraceParent=00-bb", "--header", f"tracestate={state}")
    Application.asked.clear()
    work("named", base + "/200")
    got = {name.lower(): value for name, value in Application.asked[0][1].items()}
    check("the case of a header's name does not matter",
          (got["content-type"], got.get("traceparent")) == ("application/json", "00-bb"), got)
    check("a long header is passed on", got.get("tracestate") == state, got)


def test_connections(base):
    subprocess.run([READPAST, "enqueue", "many", "--quiet"], check=True,
                   input="\n".join(map(str, range(40))), text=True)
    Application.sockets.clear()
    Application.asked.clear()
    ran = work("many", base + "/200", "-j", "4")
    check("each job is posted once", sorted(int(a[2]) for a in Application.asked)
          == list(range(40)), Application.asked)
    check("connections are used again", len(Application.sockets) <= 4, Application.sockets)
    check("the last line has the totals",
          ran.stdout.splitlines()[-1] == "40 done, 0 failed, 0 dead, 0 released", ran)


def test_one_request(_):
    payloads = ["a", "", "b", "c" * 100000]
    jobs = [readpast("enqueue", "once", payload, "--keep", "1h", "--max-attempts", "1")
            for payload in payloads]
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Closing) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        work("once", f"http://127.0.0.1:{server.server_address[1]}/", status=None)
        server.shutdown()
    sizes = [len(body) for body in Closing.posted]
    check("if a connection that is used again is closed, no payload is posted twice",
          sizes == [len(payload) for payload in payloads], sizes)
    found = [(job["state"], job["last_error"]) for job in map(show, jobs)]
    check("this attempt has failed, and the error says why",
          found == [("done", None), ("dead", "no answer: the connection was closed")] * 2,
          found)


def test_time(base):
    job = readpast("enqueue", "slow", "x", "--timeout", "300ms", "--backoff", "1h")
    began = time.monotonic()
    work("slow", base + "/hang/20")
    took = time.monotonic() - began
    check("a request that takes longer than the timeout has failed",
          show(job)["last_error"].startswith("timed out after 300 ms")
          and took < 15, (show(job), took))
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    job = readpast("enqueue", "away", "x", "--backoff", "1h")
    work("away", f"http://127.0.0.1:{port}/")
    check("a server that is away fails the attempt, and the error says so",
          show(job)["state"] == "scheduled"
          and show(job)["last_error"].startswith("no answer: Failed to connect"), show(job))


def test_end(base):
    job = readpast("enqueue", "ended", "x")
    Application.asked.clear()
    worker = subprocess.Popen([READPAST, "work", "ended", "--post", base + "/hang/20"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + PATIENCE
    while not Application.asked and time.monotonic() < end:
        time.sleep(0.02)
    worker.send_signal(signal.SIGTERM)
    assert any("waiting for 1 handler" in line for line in worker.stderr), "it has ended"
    worker.send_signal(signal.SIGTERM)
    began = time.monotonic()
    worker.communicate(timeout=PATIENCE)
    found = show(job)
    check("a second signal gives the request up, and its job is released",
          (found["state"], found["attempt"]) == ("ready", 0)
          and time.monotonic() - began < 15, found)


def test_usage(base):
    readpast("queue", "set", "q")
    for options, words in ((["--post", base, "--", "true"], "not both"),
                           (["--post", "ftp://x/"], "expected http"),
                           (["--post", "file:///etc/passwd"], "expected http"),
                           (["--post", "http://"], "expected http"),
                           (["--post", "http:///x"], "expected http"),
                           (["--post", "http://127.0.0.1:99999/"], "ort number"),
                           (["--post", "http://127.0.0.1/a b"], "/a b: "),
                           (["--post", "http://[::1/x"], "Bad IPv6 address"),
                           (["--post", "http://%00/"], "Bad hostname"),
                           (["--post", base, "--result", "stdout"], "--result"),
                           (["--post", base, "--output-sync"], "--output-sync"),
                           ([], "which command")):
        ran = subprocess.run([READPAST, "work", "q", "--drain", *options], text=True,
                             capture_output=True)
        check(f"work {' '.join(options[:1] + options[2:])} is refused: {words}",
              ran.returncode == 2 and words in ran.stderr
              and ran.stderr.count("\n") == 1, ran)


def main():
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            del os.environ[name]
    os.environ["READPAST_DB"] = f"sqlite:{os.getcwd()}/post.db"
    readpast("init")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    for test in (test_verdicts, test_control, test_release, test_request,
                 test_job_headers, test_connections, test_one_request, test_time, test_end, test_usage):
        test(base)
    server.shutdown()


run(main)
