"""Test a program of examples/ that is killed again and again. This file has what the
tests of all programs share.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ext"))

import databases  # noqa: E402
from cases import READPAST  # noqa: E402

SOURCE = pathlib.Path(sys.argv[3]).resolve() / "examples"


class Example:
    """A test of a program in examples/. By default it has a queue in a SQLite database.
    A subclass defines `file`, the program; set_up(), which prepares the database;
    commands(), which returns the commands that are run and are killed again and again;
    done(), which returns their progress; and check(), which checks the final state. Its
    docstring states what the program promises."""

    database = databases.SQLite
    queue = "q"
    jobs = 60
    kills = 6
    lease = "1s"
    environment = {}

    def __init__(self, folder):
        self.folder = folder
        self.path = SOURCE / self.file
        self.program = pathlib.Path(sys.argv[5]).resolve() if len(sys.argv) > 5 else None
        self.db = self.database(folder)
        # the folder for programs that examples call as `readpast`
        tools = folder / "bin"
        tools.mkdir()
        (tools / "readpast").symlink_to(READPAST)
        self.env = {**os.environ, "READPAST_DB": self.db.url, **self.environment,
                    "PATH": f"{tools}:{os.environ['PATH']}"}
        self.env.pop("READPAST_HISTORY", None)
        self.crew = []

    def readpast(self, *args, **options):
        return subprocess.run([READPAST, *args], check=True, env=self.env, text=True,
                              stdout=subprocess.PIPE, cwd=self.folder, **options).stdout

    def enqueue(self, payloads):
        """Allow 1,000 attempts a job, because this test often kills the worker of a
        job."""
        self.readpast("queue", "set", self.queue, "--lease", self.lease, "--backoff", "100ms",
                      "--max-attempts", "1000")
        self.readpast("enqueue", self.queue, "--quiet",
                      input="".join(f"{payload}\n" for payload in payloads))

    def start(self, command):
        with open(self.folder / "log", "a") as log, \
                open(self.folder / "output", "a") as output:
            self.crew.append(subprocess.Popen(
                command, stdout=output, stderr=log, cwd=self.folder, env=self.env,
                stdin=open(self.folder / "input") if self.has_input() else None))

    def has_input(self):
        return (self.folder / "input").exists()

    def output(self):
        return (self.folder / "output").read_text().splitlines()

    def eventually(self, is_so, what):
        end = time.monotonic() + 60
        while not is_so():
            for process in self.crew:
                assert not process.poll(), (
                    f"{process.args} ended with {process.returncode}: "
                    + (self.folder / "log").read_text()[-2000:])
            assert time.monotonic() < end, (
                f"{what}: {self.done()} done, {self.db.live()} jobs left: "
                + (self.folder / "log").read_text()[-2000:])
            time.sleep(0.01)

    def kill(self):
        """Kill the process that has run longest, and start another one in its place.
        Returns whether a process was killed."""
        victim = next((process for process in self.crew if process.poll() is None), None)
        if victim is None:
            return False
        victim.kill()
        if victim.wait() == 0:  # the process had just ended by itself
            return False
        self.crew.remove(victim)
        self.start(victim.args)
        return True

    def leave_one(self):
        """Kill all processes but the one that has run longest."""
        while len(self.crew) > 1:
            process = self.crew.pop()
            process.kill()
            process.wait()

    def run(self):
        self.set_up()
        for command in self.commands():
            self.start(command)
        killed = 0
        for kill in range(self.kills):
            until = (kill + 1) * self.jobs // (self.kills + 2)
            self.eventually(lambda: self.done() >= until, f"kill {kill}")
            time.sleep(random.random() * 0.05)
            killed += self.kill()
        assert killed > 0, "all was done before the first kill: give it more to do"
        self.eventually(self.is_finished, "the end")

    def is_finished(self):
        return self.db.live() == 0

    def tear_down(self):
        for process in self.crew:
            process.kill()
            process.wait()
        self.db.close()
