// pg-boss.mjs - run the queue pg-boss for the benchmark. It is configured for the
// highest throughput: it fetches and completes jobs in batches of a hundred, without a
// pause.
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import PgBoss from "pg-boss";

const server = {
	host: process.env.PGHOST,
	user: process.env.PGUSER,
	database: process.env.PGDATABASE,
};
const jobs = Array.from({ length: 100 }, () => ({
	name: "bench",
	data: { p: "0".repeat(190) },
}));

async function start(options) {
	const boss = new PgBoss({ ...server, ...options });

	boss.on("error", console.error);
	await boss.start();
	return boss;
}

export async function prepare() {
	const client = new pg.Client();

	await client.connect();
	await client.query("drop schema if exists pgboss cascade");
	await client.end();
	await (await start({})).createQueue("bench");
}

export async function producer() {
	const boss = await start({ supervise: false, schedule: false });

	return async () => {
		await boss.insert(jobs);
		return jobs.length;
	};
}

export async function work(finished) {
	const boss = await start({ supervise: false, schedule: false });

	for (;;) {
		const got = await boss.fetch("bench", { batchSize: 100 });

		if (got.length === 0) {
			await sleep(1);
			continue;
		}
		await boss.complete(
			"bench",
			got.map((job) => job.id),
		);
		finished(got.length);
	}
}
