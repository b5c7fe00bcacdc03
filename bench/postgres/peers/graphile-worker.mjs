// graphile-worker.mjs - run the queue graphile-worker for the benchmark. It is
// configured for the highest throughput: it fetches jobs ahead, and completes them in
// batches.
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { Logger, run, runMigrations } from "graphile-worker";
import pg from "pg";

const logger = new Logger(() => () => {});
const payload = JSON.stringify({ p: "0".repeat(190) });

// Fill the table with a job for each group. If the groups are named queues, every second
// group gets ten more jobs, which wait behind its first job.
async function fill(pgPool, { groups, named }) {
	const add = (first, step, queue) =>
		pgPool.query(
			`insert into graphile_worker._private_jobs
			        (job_queue_id, task_id, payload)
			 select ${queue}, t.id, $1
			   from graphile_worker._private_tasks t,
			        generate_series(${first}, ${groups}, ${step}) i`,
			[payload],
		);

	await pgPool.query(
		`insert into graphile_worker._private_tasks (identifier)
		 values ('bench') on conflict do nothing`,
	);
	if (!named) {
		await add(1, 1, "null");
		return;
	}
	await pgPool.query(
		`insert into graphile_worker._private_job_queues (queue_name)
		 select 'g' || i from generate_series(1, ${groups}) i order by i`,
	);
	// In the new table the ids of the queues are 1, 2, 3, ...
	await add(1, 1, "i");
	for (let behind = 0; behind < 10; behind++) await add(1, 2, "i");
	await pgPool.query("analyze graphile_worker._private_jobs");
}

export async function prepare(setting) {
	const pgPool = new pg.Pool();

	await pgPool.query("drop schema if exists graphile_worker cascade");
	await runMigrations({ pgPool, logger });
	if (setting.groups) await fill(pgPool, setting);
	await pgPool.end();
}

export async function producer({ groups, named }) {
	const client = new pg.Client();
	const queue = named ? `'g' || 1 + floor(random() * ${groups})::integer` : "null";

	await client.connect();
	return async () => {
		await client.query({
			name: "put",
			text: `select count(*) from graphile_worker.add_jobs(array(
			         select row('bench', $1::json, ${queue}, null, null,
			                    null, null, null)::graphile_worker.job_spec
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
