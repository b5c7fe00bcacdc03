#!/usr/bin/env python3
"""Test the messages that `readpast work` sends to the service manager, such as
systemd. They say that the worker is ready, alive or stopping.

  notify.py READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import fcntl
import os
import pathlib
import signal
import socket
import subprocess
import time

from tap import READPAST, check, run

PATIENCE = 60
WATCHDOG = 0.6  # WatchdogSec in seconds; WATCHDOG=1 is sent every 0.3 seconds
TOO_LATE = 5  # seconds; a later message is too late even on a busy machine


class Manager:
    """The service manager's socket, which NOTIFY_SOCKET names."""

    def __init__(self, name):
        self.name = name
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name.replace("@", "\0"))

    def hear(self, seconds=PATIENCE):
        """Return the next message, or None if no message arrives within this time."""
        self.socket.settimeout(seconds)
        with contextlib.suppress(TimeoutError):
            return self.socket.recv(4096).decode()

    def hear_until(self, word):
        """Wait for a message that contains this word. Returns all messages up to it."""
        heard = []
        while not heard or heard[-1] and word not in heard[-1]:
            heard.append(self.hear())
        return heard

    def skip(self):
        """Skip the messages that have already arrived."""
        while self.hear(0.001):
            pass

    def start(self, *arguments, **environment):
        environment = {"NOTIFY_SOCKET": self.name,
                       "WATCHDOG_USEC": str(int(WATCHDOG * 1e6)), **environment}
        return subprocess.Popen(
            [READPAST, "work", "q", *arguments], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **environment})


def readpast(*arguments):
    return subprocess.run([READPAST, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def is_alive(manager):
    """Return whether four messages WATCHDOG=1 arrive. The worker must send one after
    each half of WATCHDOG. Each message must come within TOO_LATE seconds after the
    message before it, and the fourth message must not come too early. Messages that
    arrived before this call do not count."""
    start = time.monotonic()
    manager.skip()
    heard = [manager.hear(TOO_LATE) for _ in range(4)]
    took = time.monotonic() - start
    return heard == ["WATCHDOG=1"] * 4 and took > 3 * WATCHDOG / 2 * 0.9, (heard, took)


def eventually(happened):
    end = time.monotonic() + PATIENCE
    while not happened() and time.monotonic() < end:
        time.sleep(0.01)
    return happened()


def lives_and_ends(manager):
    worker = manager.start("--grace", "7s", "--", "sh", "-c",
                           "echo ${NOTIFY_SOCKET-no}${WATCHDOG_USEC-body}; touch at-work; cat go")
    heard = manager.hear()
    check("a worker sends READY=1 when it serves", heard == "READY=1", heard)
    check("an idle worker sends WATCHDOG=1", *is_alive(manager))
    os.mkfifo("go")
    readpast("enqueue", "q", "x")
    check("a job is started", eventually(pathlib.Path("at-work").exists))
    check("a worker whose handler takes long sends WATCHDOG=1", *is_alive(manager))
    worker.send_signal(signal.SIGTERM)
    heard = manager.hear_until("STOPPING")[-1]
    check("after SIGTERM the worker sends STOPPING=1, and how long it may take",
          heard == "STOPPING=1\nEXTEND_TIMEOUT_USEC=27000000", heard)
    check("the worker sends WATCHDOG=1 while its handlers end", *is_alive(manager))
    pathlib.Path("go").write_text("", encoding="ascii")
    said = worker.communicate(timeout=PATIENCE)[0].splitlines()
    check("then the worker ends", worker.returncode == 0 and said[-1].startswith("1 done"), said)
    check("handlers cannot send messages for the worker", said[0] == "nobody", said)


def hangs(manager):
    """Let the worker hang: the file to which it writes its events is a full pipe, so
    the next write blocks its main thread."""
    os.mkfifo("history")
    reader = os.open("history", os.O_RDONLY | os.O_NONBLOCK)
    worker = manager.start("--", "true", READPAST_HISTORY="history")
    manager.hear_until("READY")
    with open("history", "wb", buffering=0) as filler:
        os.set_blocking(filler.fileno(), False)
        size = fcntl.fcntl(filler, fcntl.F_GETPIPE_SZ)
        while filler.write(b"x" * size):
            pass
    readpast("enqueue", "q", "x")
    heard = [manager.hear(WATCHDOG)]
    while heard[-1]:  # skip the messages that were sent before the worker hung
        heard.append(manager.hear(2 * WATCHDOG))
    check("a worker that hangs sends no WATCHDOG=1", len(heard) < 10, heard)
    with contextlib.suppress(BlockingIOError):
        while os.read(reader, size):
            pass
    check("a worker that no longer hangs sends WATCHDOG=1", manager.hear() == "WATCHDOG=1")
    worker.terminate()
    worker.communicate()
    os.close(reader)


def main():
    readpast("init")
    manager = Manager(os.path.abspath("notify"))
    lives_and_ends(manager)
    hangs(manager)
    worker = manager.start("--", "true", WATCHDOG_PID="1")
    check("a watchdog of another process gets no message",
          manager.hear_until("READY")[-1] and not manager.hear(2 * WATCHDOG))
    worker.terminate()
    worker.communicate()
    abstract = Manager(f"@readpast-{os.getpid()}")
    worker = abstract.start("--drain", "--", "true")
    check("an abstract socket works", abstract.hear() == "READY=1")
    check("without a service manager the worker works as well",
          worker.wait(PATIENCE) == 0 and abstract.start(
              "--drain", "--", "true", NOTIFY_SOCKET="/nowhere").wait(PATIENCE) == 0)


run(main)
