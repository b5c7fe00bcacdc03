#!/usr/bin/env python3
"""A worker in Python that uses HTTP and only the standard library. It writes the checksum
of each file beside the file.

  readpast serve &
  find /usr/include -name '*.h' | readpast enqueue sums
  ./worker_http.py http://127.0.0.1:8080 sums        # run several, if you like

The verdict on a job and the claim of the next one are one request. A worker may die before
it has sent the verdict. Then the job is done twice, which does no harm. If the server
cannot be reached, the worker ends. Let systemd start it again.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import hashlib
import json
import os
import sys
import urllib.request

server, queue = sys.argv[1:3]


def write_sum(path):
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    with open(f"{path}.sum.{os.getpid()}", "w") as file:
        file.write(f"{digest}  {path}\n")
    os.rename(file.name, f"{path}.sum")


def verdict_on(job):
    try:
        write_sum(job["payload"])
    except OSError as error:
        return {"claim": job["claim"], "verdict": "fail", "error": str(error)}
    return {"claim": job["claim"], "verdict": "done"}


verdicts = []
while True:
    request = urllib.request.Request(f"{server}/v1/settle-and-claim", json.dumps({
        "queues": [queue], "wait": "20s", "lease": os.environ.get("LEASE", "1m"),
        "verdicts": verdicts}).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        verdicts = [verdict_on(job) for job in json.load(answer)["jobs"]]
