// worker_pg.mjs - a worker in Node over `pg`: fetch pages, note their sizes.
//
//   npm install pg
//   psql app -c 'create table page (job bigint primary key, url text, size bigint)'
//   readpast --db postgres:///app enqueue pages https://example.org/ https://example.com/
//   node worker_pg.mjs postgres:///app pages          # several, if you like
//
// A page's row and its job's end are one commit: each job has one row, however often
// workers are killed. A signal ends it at once, and so does an error of the database:
// let systemd start it again. Its job is ready again when the lease is over.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import pg from 'pg'

const [url, queue] = process.argv.slice(2)
// Claims and sweeps need this level, whatever the server's default is.
const db = new pg.Client({ connectionString: url,
  options: '-c default_transaction_isolation=read\\ committed' })
const call = async (sql, ...args) => (await db.query(sql, args)).rows
let wake = () => {}
db.on('notification', () => wake())

async function work({ id, claim_no, page, lease_ms }) {
  // Renew the lease at a third of it. If it was lost the verdict is refused, too.
  const renew = setInterval(() => call('select readpast.extend($1, $2)', id, claim_no)
    .catch(() => {}), lease_ms / 3)
  try { // no transaction is open while the page is fetched
    const answer = await fetch(page)
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
    const { byteLength } = await answer.arrayBuffer()
    // One statement, so both or nothing. (complete() takes arrays, too: hence the types.)
    await call(`with done as (select readpast.complete($1::bigint, $2::bigint))
                insert into page select $1, $3, $4 from done`, id, claim_no, page, byteLength)
  } catch (error) { // tried again later; unless the job is no longer ours, or cancelled
    await call('select readpast.fail($1, $2, $3)', id, claim_no, String(error))
      .catch((e) => { if (!['RP001', 'RP002'].includes(e.code)) throw e })
  } finally {
    clearInterval(renew)
  }
}

async function wait() {
  // Register as a waiter, listen, and look once more: a job that was enqueued before
  // notifies nobody. `ms` is when this worker has to ask for a sweep again.
  const notified = new Promise((resolve) => { wake = resolve })
  const [{ channel, ms }] = await call(`select channel, extract(epoch from rest) * 1000 as ms
    from readpast.register_waiter(
      readpast.worker_named('pages:' || pg_backend_pid(), $1), $1)`, [queue])
  await call(`listen "${channel}"`)
  if (!(await call('select from readpast.probe($1) where ready', queue)).length)
    await Promise.race([notified, new Promise((resolve) => setTimeout(resolve, ms))])
}

await db.connect()
for (;;) {
  // Workers share the sweeps: sweep_start() says whose turn it is.
  await call('select readpast.sweep() where readpast.sweep_start()')
  // The name, for `readpast workers`: no two sessions have the same.
  const [job] = await call(`select id, claim_no, convert_from(payload, 'UTF8') as page,
    extract(epoch from lease_until - now()) * 1000 as lease_ms
    from readpast.claim($1, worker => 'pages:' || pg_backend_pid())`, queue)
  await (job ? work(job) : wait())
}
