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

url, queue = sys.argv[1] + "/v1/settle-and-claim", sys.argv[2]


# A payload that is not UTF-8 comes as `payload_base64`. No payload may end the worker,
# because the jobs behind it would wait.
def verdict_on(claim, payload=None, **others):
    if payload is None:
        return {"claim": claim, "verdict": "fail", "error": "the payload is not text"}
    try:
        with open(payload, "rb") as file, open(f"{payload}.sum.{os.getpid()}", "w") as line:
            line.write(f"{hashlib.sha256(file.read()).hexdigest()}  {payload}\n")
        os.rename(line.name, f"{payload}.sum")
    except (OSError, ValueError) as error:
        return {"claim": claim, "verdict": "fail", "error": str(error)}
    return {"claim": claim, "verdict": "done"}


verdicts = []
while True:
    body = json.dumps({"queues": [queue], "wait": "20s", "verdicts": verdicts}).encode()
    verdicts = [verdict_on(**job) for job in json.load(urlopen(url, body, timeout=60))["jobs"]]
