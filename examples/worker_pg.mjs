// worker_pg.mjs - a worker in Node over `pg`: fetch pages, note their sizes.
//
//   npm install pg
//   psql app -c 'create table page (job bigint primary key, url text, size bigint)'
//   readpast --db postgres:///app enqueue pages https://example.org/ https://example.com/
//   node worker_pg.mjs postgres:///app pages          # several, if you like
//
// A page's row and its job's end are one commit: each job has one row, however often
// workers are killed. SIGTERM ends it at once, and so does an error of the database:
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
  // Register as a waiter, and listen. If the registration is new claim once more: a job
  // that was enqueued before notifies nobody. After `ms` this worker has to ask for a
  // sweep again.
  db.removeAllListeners('notification')
  const notified = new Promise((resolve) => db.once('notification', resolve))
  const [{ channel, fresh, ms }] = await call(`select channel, fresh,
    extract(epoch from rest) * 1000 as ms from readpast.register_waiter($1, $2)`, me, [queue])
  await call(`listen "${channel}"`)
  await (fresh || Promise.race([notified, new Promise((resolve) => setTimeout(resolve, ms))]))
}

await db.connect()
// No two sessions have the same name. `readpast workers` lists it.
const [{ me }] = await call(`select
  readpast.worker_named('pages:' || pg_backend_pid(), $1) as me`, [queue])
process.on('SIGTERM', () => call('select readpast.worker_stop($1)', me).then(() => process.exit()))
for (;;) {
  // Workers share the sweeps: sweep_start() says whose turn it is.
  await call('select readpast.sweep() where readpast.sweep_start()')
  // A claim under a name is this worker's heartbeat, and so is extend().
  const [job] = await call(`select id, claim_no, convert_from(payload, 'UTF8') as page,
    extract(epoch from lease_until - now()) * 1000 as lease_ms
    from readpast.claim($1, worker => 'pages:' || pg_backend_pid())`, queue)
  await (job ? work(job) : wait())
}
