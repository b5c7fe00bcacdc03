#!/usr/bin/env python3
"""readpast top, on a terminal: what it shows, and what its keys do.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from tap import READPAST, check, run


def readpast(*args):
    return subprocess.run([READPAST, *args], stdout=subprocess.PIPE, text=True).stdout


class Top:
    """The program on a terminal, and all that it has written there."""

    def __init__(self, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(READPAST, [str(READPAST), "top", *args])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        self.text = ""

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                got = os.read(self.fd, 65536).decode("utf-8", "replace")
            except OSError:
                return False
            self.text += re.sub(r"\x1b[\[(][0-9;?]*[A-Za-z]|\x1b[=>]", " ", got)
        return True

    def until(self, words):
        """Has it written this since the last key?"""
        end = time.monotonic() + 20
        while not re.search(words, self.text) and time.monotonic() < end:
            if not self.read(0.5):
                break
        return bool(re.search(words, self.text))

    def press(self, key):
        self.text = ""
        os.write(self.fd, key.encode())

    def end(self):
        while self.read(5):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def state(job):
    return json.loads(readpast("show", "--json", job))["state"]


def eventually(f, wanted):
    end = time.monotonic() + 20
    while f() != wanted and time.monotonic() < end:
        time.sleep(0.02)
    return f() == wanted


def main():
    for _ in range(4):
        readpast("enqueue", "mail", "x")
    readpast("enqueue", "other", "x")
    claims = [json.loads(readpast("claim", "mail")) for _ in range(2)]
    dead, running = (str(c["id"]) for c in claims)
    readpast("fail", f"{dead}:{claims[0]['claim']}", "--for-good", "--error",
             "no such \x1b[31mhost")

    top = Top("--interval", "100ms")
    check("it shows the queues", top.until(r"mail.*other"), top.text)
    check("an error, and nothing in it that moves the cursor",
          top.until(r"no such \?\[31mhost"), top.text)
    top.press("p")
    check("p pauses the queue", top.until("paused"), top.text)
    check("indeed", "mail (paused)" in readpast("queue", "list"))
    top.press("u")
    check("u resumes it", top.until("resumed"), top.text)
    check("indeed", eventually(lambda: "(paused)" in readpast("queue", "list"), False))
    top.press("c")
    check("c needs a running job", top.until("go to the running job"), top.text)
    top.press("\t")
    top.press("c")
    check("and asks", top.until(f"cancel job {running}"), top.text)
    top.press("n")
    readpast("enqueue", "other", "y")
    top.press("c")
    top.until(f"cancel job {running}")
    check("n leaves it", state(running) == "running")
    top.press("y")
    check("y cancels it", eventually(lambda: state(running), "cancelled"))
    top.press("\t")
    top.press("r")
    check("r asks", top.until(f"retry job {dead}"), top.text)
    top.press("y")
    check("and sends a dead job back", eventually(lambda: state(dead), "ready"))
    top.press("q")
    check("q ends it", top.end() == 0)

    ran = subprocess.run([READPAST, "top"], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    check("no terminal: exit 2, one line", ran.returncode == 2
          and ran.stderr.count("\n") == 1 and "no terminal" in ran.stderr, ran)
    top = Top("--interval", "1ms")
    check("an interval that is too short", top.until("expected 100ms to 1h"), top.text)
    check("exit 2", top.end() == 2)


run(main)
