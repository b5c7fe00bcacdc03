// worker_pg.mjs - a worker in Node, which uses the package pg. It fetches pages and
// stores their sizes.
//
//   npm install pg
//   psql app -c 'create table page (job bigint primary key, url text, size bigint)'
//   readpast --db postgres:///app init
//   readpast --db postgres:///app enqueue pages https://example.org/ https://example.com/
//   node worker_pg.mjs postgres:///app pages          # run several, if you like
//
// The page's row and the completion of its job are one commit. So each job has one row,
// however often workers are killed. SIGTERM ends the worker at once, and so does an
// error of the database. Let systemd start it again. The job that it had is ready again
// when the lease is over.
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import pg from 'pg'

const [url, queue] = process.argv.slice(2)
// Claims and sweeps need the isolation level read committed, whatever the server's
// default is.
const db = new pg.Client({ connectionString: url,
  options: '-c default_transaction_isolation=read\\ committed' })
const call = async (sql, ...args) => (await db.query(sql, args)).rows

async function work({ id, claim_no, page, lease_ms }) {
  // Renew the lease when a third of it has passed. A failure is ignored here: if the
  // lease was lost, the verdict is refused as well.
  const renew = setInterval(() => call('select readpast.extend($1, $2)', id, claim_no)
    .catch(() => {}), lease_ms / 3)
  try { // no transaction is open while the page is fetched
    const answer = await fetch(page)
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
    const { byteLength } = await answer.arrayBuffer()
    // One statement completes the job and inserts the row, so both happen or neither.
    // There is also a complete() for arrays, so the arguments need types.
    await call(`with done as (select readpast.complete($1::bigint, $2::bigint))
                insert into page select $1, $3, $4 from done`, id, claim_no, page, byteLength)
  } catch (error) {
    // Try again later, unless the claim is no longer ours or the job was cancelled.
    await call('select readpast.fail($1, $2, $3)', id, claim_no, String(error))
      .catch((e) => { if (!['RP001', 'RP002'].includes(e.code)) throw e })
  } finally {
    clearInterval(renew)
  }
}

async function wait() {
  // Register as a waiter, and listen. If the registration is new, return at once, so
  // that the worker claims again: for jobs enqueued earlier it gets no notification.
  // Otherwise return after `ms` at the latest, when the worker must call sweep_start().
  db.removeAllListeners('notification')
  const notified = new Promise((resolve) => db.once('notification', resolve))
  const [{ channel, fresh, ms }] = await call(`select channel, fresh,
    extract(epoch from rest) * 1000 as ms from readpast.register_waiter($1, $2)`, me, [queue])
  await call(`listen "${channel}"`)
  await (fresh || Promise.race([notified, new Promise((resolve) => setTimeout(resolve, ms))]))
}

await db.connect()
// Each session has a name of its own, which `readpast workers` shows.
const [{ me }] = await call(`select
  readpast.worker_named('pages:' || pg_backend_pid(), $1) as me`, [queue])
process.on('SIGTERM', () => call('select readpast.worker_stop($1)', me).then(() => process.exit()))
for (;;) {
  // Workers share the sweeps: sweep_start() returns true when this worker must sweep.
  await call('select readpast.sweep() where readpast.sweep_start()')
  // A claim under the worker's name is its heartbeat, and so is extend().
  const [job] = await call(`select id, claim_no, convert_from(payload, 'UTF8') as page,
    extract(epoch from lease_until - now()) * 1000 as lease_ms
    from readpast.claim($1, worker => 'pages:' || pg_backend_pid())`, queue)
  await (job ? work(job) : wait())
}
