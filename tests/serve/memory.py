#!/usr/bin/python3
"""Test requests for whose answers the server has no memory.

  memory.py READPAST sqlite:

On PostgreSQL libpq reports that it has no memory as another error.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import pathlib
import resource

from serving import Case, eventually, main


class Memory(Case):
    def ready(self):
        return self.server.get(f"/v1/stats?queue={self.queue}").json["queues"][0]["ready"]

    def test_jobs_for_whose_answer_there_is_no_memory_are_released(self):
        """The address space of the server has room for the jobs, but at first not for the
        text of the answer."""
        pid = self.server.process.pid
        statm = pathlib.Path(f"/proc/{pid}/statm").read_text()
        used = int(statm.split()[0]) * resource.getpagesize()
        for _ in range(10):
            self.server.post(f"/v1/queues/{self.queue}/jobs", b"x" * 8000000)
        before = resource.prlimit(pid, resource.RLIMIT_AS)
        claim = "/v1/claim", {"queues": [self.queue], "max": 10}
        try:
            for more in (50 << 20, 100 << 20, 150 << 20):
                resource.prlimit(pid, resource.RLIMIT_AS, (used + more, before[1]))
                answer = self.server.post(*claim)
                self.refused(answer, 503, "out of memory")
                self.assertEqual(answer.headers["Retry-After"], "1")
                self.assertTrue(eventually(20, lambda: self.ready() == 10))
        finally:
            resource.prlimit(pid, resource.RLIMIT_AS, before)
        self.assertEqual(len(self.server.post(*claim).json["jobs"]), 10)


main()
