#!/usr/bin/env python3
"""readpast top, in a terminal emulator (tmux): what the screen shows, and what
the keys do.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import re
import shlex
import subprocess
import time
import unicodedata

from tap import READPAST, check, run


def readpast(*args):
    return subprocess.run([READPAST, *args], stdout=subprocess.PIPE, text=True).stdout


class Top:
    """The program on a screen of so many columns and lines."""

    screens = 0

    def __init__(self, *args, columns=140, lines=40, before=""):
        Top.screens += 1
        self.socket = f"./tmux-{Top.screens}"
        program = shlex.join([str(READPAST), "top", *args])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns),
                  "-y", str(lines),
                  f"{before} {program} 2>err; echo $? >status; mv status ended")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *args], text=True,
                              capture_output=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def row(self, words):
        return next((line for line in self.text().split("\n") if words in line), "")

    def shows(self, words):
        return eventually(lambda: bool(re.search(words, self.text(), re.M)), True)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def ended(self):
        eventually(lambda: os.path.exists("ended"), True)
        with open("ended") as f:
            status = int(f.read())
        os.remove("ended")
        return status

    def kill(self):
        self.tmux("kill-server")


def state(job):
    return json.loads(readpast("show", "--json", job))["state"]


def is_paused(queue):
    return f"{queue} (paused)" in readpast("queue", "list")


def eventually(f, wanted):
    end = time.monotonic() + 60
    while f() != wanted and time.monotonic() < end:
        time.sleep(0.02)
    return f() == wanted


def width(text):
    return sum((unicodedata.east_asian_width(c) in "WF") + 1 for c in text)


def keys():
    for _ in range(4):
        readpast("enqueue", "mail", "x")
    readpast("enqueue", "other", "x")
    claims = [json.loads(readpast("claim", "mail")) for _ in range(2)]
    dead, running = (str(c["id"]) for c in claims)
    readpast("fail", f"{dead}:{claims[0]['claim']}", "--for-good", "--error",
             "no such \x1b[31mhost")

    top = Top("--interval", "100ms")
    check("it shows the queues", top.shows(r"^mail.*\n^other"), top.text())
    check("an error, and nothing in it that moves the cursor",
          top.shows(r"no such \?\[31mhost"), top.text())
    top.press("p")
    check("p asks", top.shows("y or n: pause queue mail"), top.text())
    top.press("x")
    check("any key but y changes nothing", top.shows("tab list") and not is_paused("mail"))
    top.press("p", "y")
    check("y pauses the queue", eventually(lambda: is_paused("mail"), True))
    check("the queue's row says so", top.shows("^mail +paused"), top.text())
    top.press("u", "y")
    check("u resumes it", eventually(lambda: is_paused("mail"), False))
    top.press("c")
    check("c needs a running job", top.shows("go to the running job"), top.text())
    top.press("Tab", "c")
    check("c asks", top.shows(f"cancel job {running}"), top.text())
    top.press("n")
    check("n leaves the job", top.shows("tab list") and state(running) == "running")
    top.press("c", "y")
    check("y cancels it", eventually(lambda: state(running), "cancelled"))
    top.press("Tab", "r")
    check("r asks", top.shows(f"retry job {dead}"), top.text())
    top.press("y")
    check("y sends a dead job back", eventually(lambda: state(dead), "ready"))
    top.press("q")
    check("q ends it with 0", top.ended() == 0)


def many_queues():
    for i in range(10, 50):
        readpast("enqueue", f"queue{i}", "x", "--quiet")
    readpast("pause", "queue11")
    top = Top("--interval", "100ms", columns=80, lines=24)
    check("80x24: paused can be read", top.shows("^queue11 +paused"), top.text())
    check("80x24: the other lists are there",
          all(word in top.text() for word in ("WORKER", "ATTEMPT", "ERROR")), top.text())
    top.press(*["Down"] * 31)
    check("the list scrolls to the cursor", top.shows("^queue39 "), top.text())
    top.press("p")
    asked = r"y or n: pause queue (queue\d+)"
    top.shows(asked)
    queue = re.search(asked, top.text())[1]
    check("a key acts on a row that is shown", f"\n{queue} " in top.text(), top.text())
    readpast("enqueue", "another", "x")
    top.press("y")
    check("it acts on what it asked about", eventually(lambda: is_paused(queue), True))
    check("the cursor stays on its queue when rows come",
          top.shows(f"^{queue} +paused"), top.text())
    top.press("Home")
    check("Home goes to the first queue", top.shows("^another "), top.text())
    top.press("End")
    check("End goes to the last one", top.shows("^queue49 "), top.text())
    top.tmux("resize-window", "-x", "60", "-y", "20")
    check("60 columns: rows are cut into no others",
          top.shows("^QUEUE.{0,55}OLDEST$") and top.shows(r"^queue49 .*\d+m?s$"), top.text())
    top.press("q")
    top.ended()


def wide_names():
    for name in ("café", "日本語キュー", "queue"):
        readpast("enqueue", name, "x")
    top = Top(columns=80, lines=24)
    top.shows("^日本語キュー ")
    rows = [top.row(name) for name in ("café", "日本語キュー", "queue ")]
    check("wide and accented names stand in line with the others",
          all(rows) and len({width(row[:row.index(" 1 ")]) for row in rows}) == 1, rows)
    top.press("q")
    top.ended()


def without_terminal():
    ran = subprocess.run([READPAST, "top"], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    check("no terminal: exit 2, one line", ran.returncode == 2
          and ran.stderr.count("\n") == 1 and "no terminal" in ran.stderr, ran)
    top = Top("--interval", "1ms")
    check("an interval that is too short: exit 2", top.ended() == 2)
    with open("err") as f:
        check("and a line that says so", "expected 100ms to 1h" in f.read())
    top = Top("--interval", "100ms", before="trap '' HUP;")
    top.shows("QUEUE")
    top.kill()
    check("its terminal has gone, and SIGHUP is ignored: it ends", top.ended() == 1)


def main():
    for part in (keys, many_queues, wide_names, without_terminal):
        os.environ["READPAST_DB"] = f"sqlite:{part.__name__}.db"
        part()


run(main)
