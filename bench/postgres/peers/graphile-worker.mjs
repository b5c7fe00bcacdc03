// graphile-worker.mjs - run the queue graphile-worker for the benchmark. It is
// configured for the highest throughput: it fetches jobs ahead, and completes them in
// batches.
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { Logger, run, runMigrations } from "graphile-worker";
import pg from "pg";

const logger = new Logger(() => () => {});
const payload = JSON.stringify({ p: "0".repeat(190) });

export async function prepare() {
	const pgPool = new pg.Pool();

	await pgPool.query("drop schema if exists graphile_worker cascade");
	await runMigrations({ pgPool, logger });
	await pgPool.end();
}

export async function producer() {
	const client = new pg.Client();

	await client.connect();
	return async () => {
		await client.query({
			name: "put",
			text: `select count(*) from graphile_worker.add_jobs(array(
			         select row('bench', $1::json, null, null, null, null,
			                    null, null)::graphile_worker.job_spec
			           from generate_series(1, 100)))`,
			values: [payload],
		});
		return 100;
	};
}

export async function work(finished) {
	const runner = await run({
		pgPool: new pg.Pool({ max: 20 }),
		logger,
		concurrency: 100,
		noHandleSignals: true,
		taskList: { bench: async () => finished(1) },
		preset: {
			worker: {
				localQueue: { size: 500 },
				completeJobBatchDelay: 0,
				failJobBatchDelay: 0,
			},
		},
	});

	await runner.promise;
}
