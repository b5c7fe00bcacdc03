#!/usr/bin/python3
"""backoff.py - call an API that limits its clients. A handler for `readpast work`.

  readpast enqueue calls '{"to": "Ada"}' '{"to": "Grace"}'
  API=https://api.example.org/messages readpast work calls -j 4 -- ./backoff.py

If the API answers 429 or 503 with a Retry-After header, the job is released and waits
for that time. The attempt is not counted, and the worker does other jobs meanwhile. Any
other failure is one of the job's attempts, and the queue's backoff delays the next one.

A call may be made twice, because a worker can die before it has read the answer. So each
call carries the job's id, which is the same in each attempt. The API can ignore an id
that it has seen before.

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
    if error.code in (429, 503) and wait.isdigit():  # the header may also be a date
        # This command settles the claim. After that, exit status 0 changes nothing.
        subprocess.run(["readpast", "release", os.environ["READPAST_CLAIM"],
                        "--delay", f"{wait}s"], check=True, stdout=subprocess.DEVNULL)
    elif error.code in (408, 429) or error.code >= 500:
        # this attempt failed; the job is tried again later
        sys.exit(f"HTTP {error.code}")
    else:
        print(f"HTTP {error.code}", file=sys.stderr)
        sys.exit(65)  # never again
except OSError as error:
    sys.exit(str(error))
