#!/usr/bin/python3
"""backoff.py - call an API that limits its clients: a handler for `readpast work`.

  readpast enqueue calls '{"to": "Ada"}' '{"to": "Grace"}'
  API=https://api.example.org/messages readpast work calls -j 4 -- ./backoff.py

If the API answers 429 or 503 with Retry-After, the job is given back for that long, and
no attempt is counted; meanwhile the worker does other jobs. Any other failure is one
of the job's attempts, and the queue's backoff says when the next one is.

A call may be made twice, for a worker can die before it has heard the answer. So each
bears the job's id, the same in each attempt: the API does what it has not done yet.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import subprocess
import sys
import urllib.error
import urllib.request

request = urllib.request.Request(os.environ["API"], data=sys.stdin.buffer.read(), headers={
    "Content-Type": "application/json", "Idempotency-Key": os.environ["READPAST_JOB_ID"]})
try:
    urllib.request.urlopen(request, timeout=20).close()
except urllib.error.HTTPError as error:
    wait = error.headers.get("Retry-After", "")
    if error.code in (429, 503) and wait.isdigit():  # it may be a date, too
        # The claim is settled here. Exit status 0: the worker has nothing to add.
        subprocess.run(["readpast", "release", os.environ["READPAST_CLAIM"],
                        "--delay", f"{wait}s"], check=True, stdout=subprocess.DEVNULL)
    elif error.code in (408, 429) or error.code >= 500:
        sys.exit(f"HTTP {error.code}")  # this attempt failed; tried again later
    else:
        print(f"HTTP {error.code}", file=sys.stderr)
        sys.exit(65)  # never again
except OSError as error:
    sys.exit(str(error))
