#!/usr/bin/python3
"""Test the command `work` on a terminal. The last line is a status line. Above it are
the output of handlers and messages of the worker, which never share a line.

  live.py READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from tap import READPAST, check, run

INTERRUPT = b"\x03"
COUNTS = re.compile(r"(\d+) done, (\d+) failed, (\d+) dead, (\d+) released"
                    r"(?:; (\d+) running)?")


def readpast(*args):
    subprocess.run([READPAST, *args], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Screen:
    """A terminal of this width. `lines` are all lines, including those that were
    scrolled away."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.at = 0
        self.live = []  # each version of the status line that was drawn

    def put(self, text):
        for token in re.findall(r"\x1b\[K|.", text, re.S):
            line = self.lines[-1]
            if token == "\r":
                self.at = 0
            elif token == "\n":
                self.lines.append("")
            elif token == "\x1b[K":
                self.lines[-1] = line[:self.at]
            else:
                if self.at == self.columns:
                    self.lines.append("")
                    self.at, line = 0, ""
                self.lines[-1] = line[:self.at].ljust(self.at) + token + line[self.at + 1:]
                self.at += 1
        if "done," in self.lines[-1]:
            self.live.append(self.lines[-1])

    def last(self):
        """Return the last line that is not empty."""
        return [line for line in self.lines if line][-1]


class Work:
    """The command `readpast work` on a pseudo terminal."""

    def __init__(self, *args, columns=80):
        self.screen = Screen(columns)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            # A shell starts programs in the background with this signal ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execv(READPAST, [READPAST, "work", *args])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, seconds):
        """Read output for some time. Returns False if the program has ended."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            text = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.screen.put(text.decode().replace("\r\n", "\n\r"))
        return True

    def wait_for(self, words):
        end = time.monotonic() + 60
        while time.monotonic() < end and not any(words in s for s in self.screen.lines):
            self.read(0.05)
        return any(words in line for line in self.screen.lines)

    def press(self, key):
        os.write(self.terminal, key)

    def fill(self):
        """Wait until the terminal, which nobody reads now, takes no more output."""
        unread = -1
        while unread != (unread := self.unread()):
            time.sleep(0.5)

    def unread(self):
        """Return how many bytes of output can be read."""
        return struct.unpack("i", fcntl.ioctl(self.terminal, termios.FIONREAD, b"1234"))[0]

    def ended(self):
        """Wait for the end of the program, and return its exit status."""
        end = time.monotonic() + 60
        while time.monotonic() < end and self.read(0.05):
            pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def script(name, text):
    path = pathlib.Path(name)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return f"./{name}"


def lines_stand_alone():
    """The handlers write to both streams between updates of the status line."""
    handler = script("both", 'echo "out $1"; sleep 0.3; echo "err $1" >&2')
    readpast("enqueue", "q", *map(str, range(8)))
    work = Work("q", "-j", "2", "--drain", "--", handler, "{}")
    work.ended()
    lines = [line for line in work.screen.lines if re.search("out|err", line)]
    wanted = {f"{stream} {i}" for stream in ("out", "err") for i in range(8)}
    check("each line of a handler is a line on the terminal", set(lines) == wanted, lines)
    check("meanwhile there was a status line", len(work.screen.live) > 2,
          work.screen.live)
    check("in the end only the last status line is left",
          sum("released" in line for line in work.screen.lines) == 1,
          work.screen.lines)


def counts_agree():
    """The counts of the status line are right, although job 20 is slow. The worker
    releases the jobs that it has claimed ahead, but none of these counts as released."""
    handler = script("sometimes", '[ "$1" != 20 ] || sleep 1; [ "$1" != 30 ] || exit 75;'
                     '[ "$1" != 31 ] || exit 65; [ "$1" != 32 ] || exit 1')
    readpast("queue", "set", "counts", "--backoff", "1h")
    readpast("enqueue", "counts", *map(str, range(60)))
    work = Work("counts", "--drain", "--", handler, "{}")
    status = work.ended()
    seen = [COUNTS.search(line) for line in work.screen.live]
    running = [int(counts[5]) for counts in seen]
    last = work.screen.last()
    check("the last status line has the right counts",
          last == "57 done, 1 failed, 1 dead, 1 released", last)
    check("no earlier status line counts more jobs",
          all(int(a) <= int(b) for counts in seen for a, b in
              zip(counts.group(1, 2, 3, 4), COUNTS.search(last).group(1, 2, 3, 4))),
          work.screen.live)
    check("with one handler at a time at most one job is running",
          max(running) == 1, running)
    check("after a job has died, work exits with 7", status == 7, status)


def half_lines_are_left_alone():
    handler = script("slowly", 'printf abc; sleep 0.7; echo def; sleep 0.5')
    readpast("enqueue", "half", "x")
    work = Work("half", "--drain", "--", handler)
    work.ended()
    check("the status line waits until a handler has ended its line",
          "abcdef" in work.screen.lines, work.screen.lines)


def a_narrow_terminal():
    handler = script("nap", "sleep 0.5")
    readpast("enqueue", "narrow", "x", "y")
    work = Work("narrow", "--drain", "--", handler, columns=30)
    work.ended()
    check("on a narrow terminal the line is cut, and not wrapped",
          max(map(len, work.screen.live)) < 30 and
          sum("done" in line for line in work.screen.lines) == 1, work.screen.lines)


def an_interrupt():
    handler = script("hang", "echo started; exec sleep 1000")
    readpast("enqueue", "hang", "x", "y", "z")
    work = Work("hang", "-j", "2", "--grace", "5m", "--", handler)
    work.wait_for("started")
    work.wait_for("2 running")
    work.press(INTERRUPT)
    said = ("readpast: waiting for 2 handlers, 5m at most (--grace); "
            "a second Ctrl-C ends them")
    check("after the first Ctrl-C work prints what it waits for",
          work.wait_for(said[:70]), work.screen.lines)
    work.press(INTERRUPT)
    status = work.ended()
    check("the second Ctrl-C ends the handlers", status == 0 and
          "0 done, 0 failed, 0 dead, 2 released" in work.screen.lines,
          (status, work.screen.lines))
    check("the message was printed once, on a line of its own",
          "".join(work.screen.lines).count("waiting for") == 1, work.screen.lines)


def a_terminal_that_takes_no_output():
    handler = script("endless", "yes")
    readpast("enqueue", "stuck", "x")
    work = Work("stuck", "--drain", "--grace", "1h", "--", handler)
    work.wait_for("y")
    work.fill()
    # If both signals are pending, the kernel delivers SIGINT first.
    os.kill(work.pid, signal.SIGTERM)
    os.kill(work.pid, signal.SIGINT)
    status = work.ended()
    check("a second signal ends a handler whose output the terminal does not take",
          status in (-signal.SIGTERM, -signal.SIGINT), status)


def is_gone(file):
    """The process whose id is in the file has ended."""
    path = pathlib.Path(file)
    return path.exists() and path.read_text() and not os.path.exists(
        f"/proc/{path.read_text().strip()}")


def timeouts_beside_a_terminal_that_takes_no_output():
    handler = script("chatty", """read -r what
        case $what in
            endless) echo $$ >endless; exec yes ;;
            slow) echo $$ >slow; echo slow; exec sleep 600 ;;
            quick) echo quick ;;
        esac""")
    readpast("queue", "set", "full", "--max-attempts", "1")
    readpast("enqueue", "full", "endless")
    work = Work("full", "-j", "3", "--drain", "--", handler)
    work.wait_for("y")
    work.fill()
    readpast("enqueue", "full", "quick", "slow", "--timeout", "3s")
    end = time.monotonic() + 60
    while time.monotonic() < end and not is_gone("slow"):
        time.sleep(0.1)
    check("a handler is ended after its timeout while another one waits for the terminal",
          is_gone("slow"))
    time.sleep(1)
    os.kill(int(pathlib.Path("endless").read_text()), signal.SIGKILL)
    work.ended()
    check("a handler that ended in time has done its job, although its output came later",
          work.screen.last().startswith("1 done, 0 failed, 2 dead, 0 released"),
          work.screen.last())


def keys_are_erased():
    """The terminal echoes keys. After a line of a handler there is no status line for a
    moment, so an echo is alone on its line."""
    handler = script("lines", "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.3; done")
    readpast("enqueue", "keys", "x")
    work = Work("keys", "--drain", "--", handler)
    for i in range(1, 9):
        work.wait_for(f"line {i}")
        work.press(b"x")
    work.ended()
    check("what the terminal echoes before a status line is erased",
          not any(line.startswith("x") for line in work.screen.live), work.screen.live)


def without_it():
    handler = script("is_terminal", "test -t 1 && echo terminal || echo pipe")
    readpast("enqueue", "quiet", "x")
    work = Work("quiet", "--drain", "--quiet", "--", handler)
    work.ended()
    check("with --quiet there is no status line, and handlers can use the terminal",
          [line for line in work.screen.lines if line] == ["terminal"],
          work.screen.lines)


def main():
    readpast("init")
    lines_stand_alone()
    counts_agree()
    half_lines_are_left_alone()
    a_narrow_terminal()
    an_interrupt()
    a_terminal_that_takes_no_output()
    timeouts_beside_a_terminal_that_takes_no_output()
    keys_are_erased()
    without_it()


run(main)
