#!/usr/bin/env python3
# worker_http.py - a worker in Python that uses HTTP and only the standard library. It
# writes the checksum of each file beside the file.
#
#   readpast serve &
#   find /usr/include -name '*.h' | readpast enqueue sums
#   ./worker_http.py http://127.0.0.1:8080 sums        # run several, if you like
#
# The verdict on a job and the claim of the next one are one request. A worker may die
# before it has sent the verdict. Then the job is done twice, which does no harm. If the
# server cannot be reached, the worker ends. Let systemd start it again.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

import hashlib
import json
import os
import sys
from urllib.request import urlopen

server, queue = sys.argv[1:3]


def verdict_on(job):
    path = job["payload"]
    try:
        with open(path, "rb") as file, open(f"{path}.sum.{os.getpid()}", "w") as line:
            line.write(f"{hashlib.sha256(file.read()).hexdigest()}  {path}\n")
        os.rename(line.name, f"{path}.sum")
    except OSError as error:
        return {"claim": job["claim"], "verdict": "fail", "error": str(error)}
    return {"claim": job["claim"], "verdict": "done"}


verdicts = []
while True:
    body = json.dumps({"queues": [queue], "wait": "20s", "verdicts": verdicts}).encode()
    with urlopen(f"{server}/v1/settle-and-claim", body, timeout=60) as answer:
        verdicts = [verdict_on(job) for job in json.load(answer)["jobs"]]
