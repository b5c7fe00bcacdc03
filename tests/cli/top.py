#!/usr/bin/env python3
"""Test `readpast top` in a terminal emulator (tmux): what the screen shows, and what
the keys do.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import unicodedata

from tap import READPAST, check, run


def readpast(*args):
    return subprocess.run([READPAST, *args], stdout=subprocess.PIPE, text=True).stdout


def work(*args):
    """Start a worker."""
    return subprocess.Popen([READPAST, "work", *args], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def lines_of(*args):
    return [json.loads(line) for line in readpast(*args, "--json").splitlines()]


def state(job):
    return lines_of("show", job)[0]["state"]


def is_paused(queue):
    return lines_of("stats", queue)[0]["paused"]


def paused_queues():
    return [line["queue"] for line in lines_of("stats") if line["paused"]]


def eventually(f, wanted=True, within=60):
    end = time.monotonic() + within
    while f() != wanted and time.monotonic() < end:
        time.sleep(0.02)
    return f() == wanted


class Top:
    """A terminal of this size on which `readpast top` runs, or a program that starts
    it. The terminal is closed at the end of the `with` statement."""

    screens = 0

    def __init__(self, *args, columns=140, lines=40, before="", program=None):
        Top.screens += 1
        self.name = f"./screen-{Top.screens}"
        program = program or f"{before} {shlex.join([str(READPAST), 'top', *args])}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns),
                  "-y", str(lines),
                  f"{program} 2>{self.name}.err; echo $? >{self.name}.new;"
                  f" mv {self.name}.new {self.name}.status")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.name, *args], text=True,
                              capture_output=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def row(self, words):
        return next((line for line in self.text().split("\n") if words in line), "")

    def row_with_cursor(self):
        """Return the selected line, which is drawn in reverse, without its colours."""
        lines = self.tmux("capture-pane", "-p", "-e").rstrip("\n").split("\n")[:-1]
        return next((re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines
                     if re.search(r"\x1b\[([0-9;]*;)?7m", line)), "")

    def shows(self, words):
        return eventually(lambda: bool(re.search(words, self.text(), re.M)))

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def ended(self):
        """Wait for the end of the program, and return its exit status."""
        eventually(lambda: os.path.exists(f"{self.name}.status"))
        with open(f"{self.name}.status") as f:
            return int(f.read())

    def quit(self):
        self.press("q")
        return self.ended()

    def said(self):
        with open(f"{self.name}.err") as f:
            return f.read()

    def pid(self):
        """Return the pid of `readpast top`, a descendant of the terminal's shell."""
        pid = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        while pid:
            with open(f"/proc/{pid}/comm") as f:
                if f.read().strip() == READPAST.name:
                    break
            pid = subprocess.run(["pgrep", "-P", pid], stdout=subprocess.PIPE,
                                 text=True, check=False).stdout.strip()
        return int(pid)

    def kill(self):
        self.tmux("kill-server")


def width(text):
    """Return the number of columns that the text takes on the screen."""
    return sum(0 if unicodedata.combining(c)
               else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def questions():
    readpast("enqueue", "mail", *["x"] * 4)
    readpast("enqueue", "other", "x")
    work("mail", "--max-jobs", "1", "--", "sh", "-c",
         r"printf 'no such \033[31mhost' >&2; exit 65").wait()
    dead = str(lines_of("list", "mail", "--state", "dead")[0]["id"])
    running = str(json.loads(readpast("claim", "mail"))["id"])

    def all_of_it():
        return (paused_queues(), state(running), state(dead))

    with Top("--interval", "100ms") as top:
        check("top shows the queues", top.shows(r"^mail.*\n^other"), top.text())
        check("top shows an error without characters that move the cursor",
              top.shows(r"no such \?\[31mhost"), top.text())
        before = all_of_it()
        for pane, key, question in ((0, "p", "pause queue mail"),
                                    (0, "u", "resume queue mail"),
                                    (2, "c", f"cancel job {running}"),
                                    (3, "r", f"retry job {dead}")):
            top.press(*["Tab"] * pane, key)
            check(f"{key} asks on the last line",
                  top.shows(rf"y or n: {question}\?\n*\Z"), top.text())
            top.press("n")
            check(f"{key} and then n change nothing",
                  top.shows("^nothing was changed") and top.shows("^tab list")
                  and all_of_it() == before, all_of_it())
            top.press(*["BTab"] * pane)
        for no in ("Y", "Down", "q", "Tab", "Enter", "Escape"):
            top.press("p")
            top.shows("^y or n: pause queue mail")
            top.press(no)
            check(f"p and then {no} change nothing", top.shows("^nothing was changed")
                  and all_of_it() == before, all_of_it())
        for key in "cr":
            top.press(key)
            check(f"{key} needs a job at the cursor",
                  top.shows(f"^{key}: first select a (running|dead) job"), top.text())
        top.press("Tab", "p")
        check("p needs a queue at the cursor",
              top.shows("^p: first select a queue") and not paused_queues(), top.text())

        top.press("BTab", "p", "y")
        check("y pauses the queue", eventually(lambda: is_paused("mail")))
        check("the row of the queue shows that it is paused",
              top.shows("^mail .* paused"), top.text())
        top.press("u", "y")
        check("u resumes the queue", eventually(lambda: is_paused("mail"), False))
        top.press("Tab", "Tab", "c", "y")
        check("y cancels the job", eventually(lambda: state(running), "cancelled"))
        top.press("Tab", "r", "y")
        check("y makes a dead job ready", eventually(lambda: state(dead), "ready"))
        check("q ends top with 0", top.quit() == 0)


def many_queues():
    with Top("--interval", "100ms", columns=80, lines=24) as top:
        check("on 80x24 the word paused is visible", top.shows("^queue11 .* paused"), top.text())
        check("on 80x24 the other lists are visible",
              all(re.search(f"^{words}", top.text(), re.M) for words in
                  ("WORKER +SEEN", " +RUNNING +ATTEMPT", " +DEAD +ATTEMPT")), top.text())
        seen = []
        for i in range(10, 50):
            top.shows(f"^queue queue{i}: {i - 9} of 40 queues")
            seen.append(top.row_with_cursor().split(" ")[0])
            top.press("Down")
        check("the list is sorted by name, and scrolls with the cursor",
              seen == [f"queue{i}" for i in range(10, 50)], seen)
        top.press("Home")
        top.shows("^queue queue10: ")
        check("Home goes to the first queue",
              top.row_with_cursor().startswith("queue10 "), top.text())
        top.press("End")
        top.shows("^queue queue49: ")
        check("End goes to the last one",
              top.row_with_cursor().startswith("queue49 "), top.text())
        top.press(*["Up"] * 10, "p")
        check("a key acts on the row with the cursor",
              top.shows("y or n: pause queue queue39")
              and top.row_with_cursor().startswith("queue39 "), top.text())
        top.press("y")
        check("an answer changes the queue of its question",
              eventually(lambda: is_paused("queue39"))
              and paused_queues() == ["queue11", "queue39"])
        check("the last line says that the queue is paused",
              top.shows("^queue queue39 is paused"), top.text())
        top.quit()


def rows_that_come_and_go():
    with Top("--interval", "100ms", columns=80, lines=24) as top:
        top.shows("^queue10 ")
        top.press(*["Down"] * 30)
        top.shows("^queue queue40: 31 of 40")
        readpast("enqueue", "another", "x")
        check("the cursor stays on its queue when another queue appears",
              top.shows("^queue queue40: 32 of 41"), top.text())
        for queue in ("queue10", "queue11", "queue12"):
            readpast("queue", "drop", queue, "--yes")
        check("the cursor stays on its queue when other queues disappear",
              top.shows("^queue queue40: 29 of 38")
              and top.row_with_cursor().startswith("queue40 "), top.text())
        top.press("p")
        top.shows("y or n: pause queue queue40")
        readpast("queue", "drop", "queue40", "--yes")
        check("when its queue disappears, the cursor is on the next queue",
              eventually(lambda: top.row_with_cursor().startswith("queue41 ")), top.text())
        check("the question does not change", "y or n: pause queue queue40?" in top.text(),
              top.text())
        top.press("y")
        check("the answer changes no other queue",
              top.shows("^no queue .*queue40") and paused_queues() == [], top.text())
        top.quit()


def every_list():
    readpast("enqueue", "queue20", *["x"] * 30)
    work("queue20", "--max-jobs", "9", "--", "sh", "-c", "echo broken >&2; exit 65").wait()
    readpast("claim", "queue20", "-n", "12")
    with contextlib.ExitStack() as at_end:
        for _ in range(5):
            worker = work("queue49", "--", "true")
            at_end.callback(worker.wait)
            at_end.callback(worker.terminate)
        eventually(lambda: len(lines_of("workers")), 5)
        top = at_end.enter_context(Top("--interval", "100ms", columns=80, lines=24))
        top.shows("^queue10 ")
        top.press(*["Down"] * 10)
        last = {"running job": lines_of("list", "queue20", "--state", "running")[-1]["id"],
                "dead job": lines_of("list", "queue20", "--state", "dead")[-1]["id"],
                "worker": sorted(line["name"] for line in lines_of("workers"))[-1]}
        for words, count in (("worker", 5), ("running job", 12), ("dead job", 9)):
            top.press("Tab")
            check(f"40 queues: tab goes to the list of {words}s",
                  top.shows(f": 1 of {count} {words}s"), top.text())
            top.press("End")
            check(f"the list of {words}s scrolls to its last row, and the cursor is there",
                  top.shows(f": {count} of {count} {words}s")
                  and top.row_with_cursor().split()[0] == str(last[words]), top.text())
        top.press("Tab")
        check("tab goes back to the queues", top.shows("^queue queue20: 11 of 40"),
              top.text())

        top.tmux("resize-window", "-x", "40", "-y", "10")
        check("a low screen shows only the list with the cursor",
              top.shows(r"\AQUEUE .*\n(queue.*\n){7}queue queue20"), top.text())
        top.press("Tab", "Tab", "Tab")
        check("tab shows another list on a low screen",
              top.shows(r"\A +DEAD .*\n( +\d+ .*broken\n){7}job \d+: 9 of 9"), top.text())
        for columns, lines in ((20, 5), (9, 4), (5, 3), (2, 2), (1, 1)):
            top.tmux("resize-window", "-x", str(columns), "-y", str(lines))
            eventually(lambda: top.tmux("display-message", "-p",
                                        "#{pane_width} #{pane_height}").strip(),
                       f"{columns} {lines}")
        top.tmux("resize-window", "-x", "80", "-y", "24")
        check("top survives the smallest screens", top.shows("^QUEUE .*STATE"),
              top.text())
        top.quit()


def sixty_columns():
    long = "a-name-that-is-longer-than-any-column-of-this-screen-" + "x" * 75
    readpast("enqueue", long, "x")
    readpast("pause", long)
    with Top("--interval", "100ms", columns=60, lines=24) as top:
        check("60 columns show the important columns",
              top.shows("^QUEUE +READY +RUNNING +DEAD +OLDEST +STATE"), top.text())
        check("on 60 columns the word paused is visible",
              top.shows("^queue11 .* paused"), top.text())
        rows = re.findall(r"^(queue\d+) +1 +0 +0 +\d+m?s( +paused)?$", top.text(), re.M)
        shown = re.findall(r"^queue\d\d", top.text(), re.M)
        check("on 60 columns no row is cut or runs into another",
              len(rows) == len(shown) > 5, top.text())
        check("a name that is cut is marked, and its row shows paused",
              top.shows(rf"^{long[:15]}[-\w]*\+ +1 .* paused$"), top.text())
        check("on 60 columns the last line has all keys",
              top.shows("p pause .*u resume .*c cancel .*r retry .*q quit"), top.text())
        top.press("u")
        check("a question can have a name that is longer than the screen",
              top.shows(rf"^y or n: resume queue {long[:30]}"), top.text())
        top.press("y")
        check("the answer resumes the queue with the long name",
              eventually(paused_queues, ["queue11"]))
        readpast("pause", "queue11", "--reason", "the relay is down")
        check("on 60 columns a reason does not cut the word paused",
              top.shows(r"^queue11 .* paused\+$"), top.text())
        top.quit()


def wide_names():
    names = ("café", "cafe\u0301-2", "日本語キュー", "🚚 trucks", "queue")
    for name in names:
        readpast("enqueue", name, "x")
    with Top("--interval", "100ms", columns=80, lines=24) as top:
        top.shows("^🚚 trucks ")
        rows = [top.row(name) for name in names]
        check("wide and accented names are shown right and aligned",
              all(rows) and len({width(row[:row.index(" 1 ")]) for row in rows}) == 1, rows)
        top.press("End", "p")
        check("a question can have a wide name",
              top.shows("^y or n: pause queue 🚚 trucks"), top.text())
        top.press("y")
        check("the answer pauses the queue with the wide name",
              eventually(lambda: is_paused("🚚 trucks")))
        top.tmux("resize-window", "-x", "10", "-y", "10")
        check("a wide name is cut between two characters",
              top.shows(r"^日本語キ ?\+"), top.text())
        top.quit()
    for locale in ("C", "xx_XX.UTF-8"):
        with Top(columns=80, lines=24, before=f"LC_ALL={locale}") as top:
            top.shows("^queue ")
            rows = [line for line in top.text().split("\n") if " 1  " in line]
            check(f"names are aligned with the locale {locale}", len(rows) == 5
                  and len({width(row[:row.index(" 1 ")]) for row in rows}) == 1, rows)
            check("a missing locale does not garble names",
                  locale == "C" or "日本語キュー" in top.text(), top.text())
            top.quit()


def ends_within(seconds, pid):
    """Wait for the end of a process. Returns False if it had to be killed."""
    if eventually(lambda: os.path.exists(f"/proc/{pid}"), False, within=seconds):
        return True
    os.kill(pid, signal.SIGKILL)
    return False


def ends_without_terminal():
    readpast("enqueue", "mail", "x")
    for asks in (False, True):
        # The screen is refreshed once an hour. So if top ends soon, top has noticed the
        # closed terminal without waiting for a refresh.
        with Top("--interval", "1h", before="trap '' HUP;") as top:
            top.shows("^mail ")
            pid = top.pid()
            if asks:
                top.press("p")
                top.shows("y or n: pause queue mail")
            top.kill()
            check("its terminal has gone, and SIGHUP is ignored: it ends "
                  + ("in the middle of a question" if asks else "at once"),
                  ends_within(10, pid))
            check("top then exits with 1 and prints why",
                  top.ended() == 1 and "the terminal was closed" in top.said(), top.said())
    check("the lost terminal has changed nothing", not paused_queues())

    # The inner shell, which started top, is killed. Then the interactive outer shell
    # takes the terminal back.
    script = f"{shlex.quote(str(READPAST))} top --interval 100ms 2>err; true"
    shell = f"bash --norc -i -c {shlex.quote(f'bash -c {shlex.quote(script)}; exec cat')}"
    with Top(program=shell) as top:
        top.shows("^mail ")
        pid = top.pid()
        with open(f"/proc/{pid}/stat") as f:
            os.kill(int(f.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        check("top ends when the shell has taken the terminal back",
              ends_within(10, pid))


def refusals():
    ran = subprocess.run([READPAST, "top"], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    check("without a terminal top exits with 2 and one line", ran.returncode == 2
          and ran.stderr.count("\n") == 1 and "not a terminal" in ran.stderr, ran)
    with Top("--interval", "1ms") as top:
        check("top with an interval that is too short exits with 2", top.ended() == 2)
        check("the message has the limits of the interval", "expected 100ms to 1h" in top.said())


def make_40_queues():
    for i in range(10, 50):
        readpast("enqueue", f"queue{i}", "x", "--quiet")
    readpast("pause", "queue11")


def main():
    os.environ["READPAST_DB"] = "sqlite:40_queues.db"
    make_40_queues()
    for part in (many_queues, rows_that_come_and_go, every_list, sixty_columns):
        shutil.copy("40_queues.db", f"{part.__name__}.db")
    for part in (questions, many_queues, rows_that_come_and_go, every_list, sixty_columns,
                 wide_names, ends_without_terminal, refusals):
        os.environ["READPAST_DB"] = f"sqlite:{part.__name__}.db"
        part()


run(main)
