#!/usr/bin/env python3
"""Test what clients that wait cost the server, and how fast a client that waits gets a
job.

  costs.py READPAST KIND

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import resource
import select
import time

from serving import READPAST, Case, Server, eventually, forget_freed_memory, main

MIB = 1 << 20
# A sanitizer adds memory to each allocation.
SANITIZED = b"__asan_init" in READPAST.read_bytes()
forget_freed_memory()
CLIENTS = 2000
MEMORY = (80 if SANITIZED else 40) * MIB
# The server should use at most 0.3 s of processor time in 30 s. The test runs for
# SECONDS and allows twice as much, because the machine may be slow or busy.
SECONDS = 5
CPU_SECONDS = (6 if SANITIZED else 1) * 2 * 0.3 * SECONDS / 30
# An answer needs two commits: of the job and of the claim.
ROUNDS = 100
P50 = 0.050
P99 = 0.500


def cpu(process):
    """Return the seconds that all threads of a process have run. This reads a clock of
    Linux with nanoseconds, because /proc has only hundredths of a second."""
    return time.clock_gettime(~process.pid << 3 | 2)


class Idle(Case):
    def setUp(self):
        super().setUp()
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * CLIENTS), hard))

    def test_idle_long_polls_need_little_memory_and_processor_time(self):
        own = Server(self.folder.name)
        # Everything that the first request needs.
        own.enqueue("warm")
        own.claim("warm")
        self.assertEqual(own.waiting(), 0)
        before = own.memory()
        sockets = [own.send_claim(self.queue, "60s") for _ in range(CLIENTS)]
        self.assertTrue(eventually(20, lambda: own.waiting() == CLIENTS), own.waiting())
        self.assertLess((own.memory() - before) / MIB, MEMORY / MIB)
        began = cpu(own.process)
        time.sleep(SECONDS)
        self.assertLess(cpu(own.process) - began, CPU_SECONDS)
        self.assertEqual(own.waiting(), CLIENTS)
        for s in sockets:
            s.close()
        self.assertEqual(own.stop(), 0)


class Latency(Case):
    def test_each_new_job_reaches_a_claim_that_waits_within_milliseconds(self):
        took = []
        sockets = [self.server.send_claim(self.queue, "60s") for _ in range(ROUNDS)]
        self.assertTrue(eventually(20, lambda: self.server.waiting() == ROUNDS))
        for _ in range(ROUNDS):
            began = time.monotonic()
            self.server.enqueue(self.queue)
            answered = select.select(sockets, [], [], 20)[0]
            took.append(time.monotonic() - began)
            self.assertEqual(len(answered), 1)
            self.assertIn(b'"payload":"x"', answered[0].recv(65536))
            sockets.remove(answered[0])
            answered[0].close()
        took.sort()
        self.assertLess(took[ROUNDS // 2], P50)
        self.assertLess(took[ROUNDS * 99 // 100 - 1], P99)


if __name__ == "__main__":
    main()
