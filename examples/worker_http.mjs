// worker_http.mjs - a worker in Node that uses HTTP and no package. It writes the checksum
// of each file beside the file.
//
//   readpast serve &
//   find /usr/include -name '*.h' | readpast enqueue sums
//   node worker_http.mjs http://127.0.0.1:8080 sums     # run several, if you like
//
// The verdict on a job and the claim of the next one are one request. A worker may die
// before it has sent the verdict. Then the job is done twice, which does no harm. If the
// server cannot be reached, the worker ends. Let systemd start it again.
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'

const [server, queue] = process.argv.slice(2)

// A payload that is not UTF-8 comes as `payload_base64`. No payload may end the worker,
// because the jobs behind it would wait.
async function writeSum(path) {
  if (path === undefined) throw new Error('the payload is not text')
  const digest = createHash('sha256').update(await readFile(path)).digest('hex')
  const unfinished = `${path}.sum.${process.pid}`
  await writeFile(unfinished, `${digest}  ${path}\n`)
  await rename(unfinished, `${path}.sum`)
}

const verdictOn = ({ claim, payload }) => writeSum(payload).then(
  () => ({ claim, verdict: 'done' }),
  (error) => ({ claim, verdict: 'fail', error: String(error) }))

for (let verdicts = []; ;) {
  const body = JSON.stringify({ queues: [queue], wait: '20s', verdicts })
  const answer = await fetch(`${server}/v1/settle-and-claim`, { method: 'POST', body })
  if (!answer.ok) throw new Error(await answer.text())
  verdicts = await Promise.all((await answer.json()).jobs.map(verdictOn))
}
