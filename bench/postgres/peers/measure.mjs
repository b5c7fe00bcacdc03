// measure.mjs - measure one of the other queues with one producer and two workers, each
// in a thread of its own.
//
//   node measure.mjs NAME SECONDS [GROUPS [named]]
//
// With GROUPS, that many groups have jobs before the measurement. With `named`, each
// group is a named queue, whose jobs run one after the other.
//
// The producer pauses while 10,000 jobs are ready. After some seconds to warm
// up, the finished jobs are counted.
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { setTimeout as sleep } from "node:timers/promises";
import { Worker, isMainThread, workerData } from "node:worker_threads";

const AHEAD = 10000;
const WARM_UP = 3000;
const PUT = 0;
const FINISHED = 1;

async function live({ name, role, board, setting }) {
	const counts = new Int32Array(board);
	const queue = await import(`./${name}.mjs`);
	const finished = (n) => Atomics.add(counts, FINISHED, n);

	if (role === "work") {
		await queue.work(finished, setting);
		return;
	}
	const put = await queue.producer(setting);
	for (;;) {
		if (counts[PUT] - Atomics.load(counts, FINISHED) > AHEAD)
			await sleep(1);
		else
			Atomics.add(counts, PUT, await put());
	}
}

async function main(name, seconds, setting) {
	const board = new SharedArrayBuffer(8);
	const counts = new Int32Array(board);

	await (await import(`./${name}.mjs`)).prepare(setting);
	for (const role of ["put", "work", "work"])
		new Worker(new URL(import.meta.url), {
			workerData: { name, role, board, setting },
		}).on("error", (error) => {
			console.error(error);
			process.exit(1);
		});
	await sleep(WARM_UP);
	const from = performance.now();
	const before = Atomics.load(counts, FINISHED);
	await sleep(seconds * 1000);
	const jobs = Atomics.load(counts, FINISHED) - before;
	console.log(jobs / ((performance.now() - from) / 1000));
	process.exit(0);
}

if (isMainThread)
	await main(process.argv[2], Number(process.argv[3]), {
		groups: Number(process.argv[4] ?? 0),
		named: process.argv[5] === "named",
	});
else await live(workerData);
