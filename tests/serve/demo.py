#!/usr/bin/env python3
"""Test `readpast serve --demo`: a scratch database with a small load.

  demo.py READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from serving import READPAST, Server, eventually, main


class Demo(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.scratch = pathlib.Path(self.folder.name) / "scratch"
        self.scratch.mkdir()
        os.environ["TMPDIR"] = str(self.scratch)

    def tearDown(self):
        self.folder.cleanup()

    def start(self):
        return Server(self.folder.name, "--demo", url=f"sqlite:{self.folder.name}/own.db")

    def load(self, server):
        """Return the ids of the processes that the server has started."""
        path = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def test_every_page_has_something_to_show_within_seconds(self):
        server = self.start()

        def queues():
            return {q["queue"]: q for q in server.get("/v1/stats").json["queues"]}

        self.assertTrue(eventually(30, lambda: queues()["orders"]["done"] > 20
                                   and queues()["mail"]["dead"]
                                   and queues()["imports"]["paused"]))
        self.assertEqual(queues()["imports"]["dead"], 9)
        self.assertTrue(eventually(10, lambda: queues()["thumbnails"]["running"] == 2))
        self.assertEqual(len(server.get("/v1/workers").json["workers"]), 1)
        self.assertEqual(len(server.get("/v1/schedules").json["schedules"]), 3)
        self.assertEqual(server.get("/").status, 200)
        self.assertEqual(server.stop(), 0)

    def test_the_folder_for_temporary_files_may_have_any_name(self):
        for name in ("a?b#c%41", "x" * 240):
            self.scratch = pathlib.Path(self.folder.name) / name
            self.scratch.mkdir()
            os.environ["TMPDIR"] = str(self.scratch)
            server = self.start()
            made, = self.scratch.iterdir()
            self.assertTrue((made / "demo.db").exists())
            self.assertEqual(server.stop(), 0)
            self.assertEqual(list(self.scratch.iterdir()), [])
        os.environ["TMPDIR"] = "/" + "y" * 2000
        ran = subprocess.run([READPAST, "serve", "--demo", "--listen", "127.0.0.1:0"],
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("File name too long", ran.stderr)

    def test_nothing_is_left_at_the_end_and_the_own_database_is_not_touched(self):
        server = self.start()
        self.assertEqual(len(list(self.scratch.iterdir())), 1)
        pids = self.load(server)
        self.assertEqual(len(pids), 1)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(list(self.scratch.iterdir()), [])
        self.assertFalse(pathlib.Path(f"/proc/{pids[0]}").exists())
        self.assertFalse((pathlib.Path(self.folder.name) / "own.db").exists())

    def test_the_load_ends_with_a_server_that_is_killed(self):
        server = self.start()
        pid, = self.load(server)
        server.stop(9)

        def is_gone():
            try:
                text = pathlib.Path(f"/proc/{pid}/stat").read_text()
            except OSError:
                return True
            return text.rsplit(")", 1)[1].split()[0] == "Z"
        self.assertTrue(eventually(10, is_gone))

    def test_nothing_is_left_if_a_signal_comes_before_the_server_listens(self):
        for number in (signal.SIGTERM, signal.SIGQUIT):
            early = subprocess.Popen([READPAST, "serve", "--demo", "--listen", "127.0.0.1:0"],
                                     stdout=subprocess.DEVNULL)
            self.assertTrue(eventually(10, lambda: any(self.scratch.iterdir())))
            early.send_signal(number)
            self.assertEqual(early.wait(30), 0)
            self.assertEqual(list(self.scratch.iterdir()), [])

    def test_nothing_is_left_after_ctrl_backslash(self):
        server = self.start()
        self.assertEqual(server.stop(signal.SIGQUIT), 0)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_wrong_options_make_no_database(self):
        for options in (["--listen", "0.0.0.0:0"], ["--listen", "x"], ["--time", "0"],
                        ["--tokens"]):
            ran = subprocess.run([READPAST, "serve", "--demo", *options],
                                 capture_output=True, timeout=20)
            self.assertEqual(ran.returncode, 2, options)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    # A shell starts programs in the background with this signal ignored.
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    main()
