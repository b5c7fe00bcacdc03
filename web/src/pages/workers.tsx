// The workers and what they run.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useAnswer } from "../answer";
import { jobsPath } from "../filter";
import { count, plural, span } from "../format";
import { Name, named } from "../name";
import { Empty, Shown } from "../parts/answer";
import { Pages } from "../parts/pages";
import { Since, Time } from "../parts/time";
import { link } from "../route";
import { readable } from "../session";
import type { Job, JobPage, Worker } from "../types";

/** The largest number of running jobs that are read. */
const MOST_JOBS = 200;
/** A worker that has not been heard of for this long is probably gone. */
const SILENT_MS = 30000;
/** How many of its jobs a worker's row shows. */
const SHOWN_JOBS = 5;

function Running({ worker, jobs }: { worker: Worker; jobs: Job[] }) {
	const running = worker.running ?? jobs.length;
	const more = running - Math.min(jobs.length, SHOWN_JOBS);
	if (running === 0) return <span class="faint">{worker.running === 0 ? "idle" : "–"}</span>;
	return (
		<ul class="running">
			{jobs.slice(0, SHOWN_JOBS).map((job) => (
				<li key={job.id}>
					<a class="id" href={link(["job", String(job.id)])}>
						{job.id}
					</a>{" "}
					<Name of={job.queue} class="name" />{" "}
					{job.kind && (
						<>
							· <Name of={job.kind} class="name" />
						</>
					)}{" "}
					<span class="soft"><Since at={job.claimed_at} /></span>
				</li>
			))}
			{more > 0 && <li class="soft">{jobs.length ? `and ${count(more)} more` : plural(more, "job")}</li>}
		</ul>
	);
}

function Row({ worker, jobs }: { worker: Worker; jobs: Job[] }) {
	const silent = worker.silent_ms >= SILENT_MS;
	const failed = (worker.failed ?? 0) + (worker.dead ?? 0);
	return (
		<tr class={silent ? "silent" : undefined}>
			<th scope="row">
				<Name of={worker.name} />
				<p class="note">
					{worker.host && (
						<>
							host <Name of={worker.host} />
						</>
					)}
					{worker.pid ? `, process ${worker.pid}` : ""}
				</p>
			</th>
			<td data-label="heard of">
				{silent ? <span class="tag warn">silent for {span(worker.silent_ms)}</span> : <Time at={worker.seen_at} />}
			</td>
			<td data-label="started">
				<Time at={worker.started_at} />
			</td>
			<td data-label="queues">
				<span class="name">{worker.queues.map(named).join(", ")}</span>
			</td>
			<td data-label="runs">
				<Running worker={worker} jobs={jobs} />
			</td>
			<td class="n" data-label="done">{count(worker.done)}</td>
			<td class="n" data-label="failed">
				{failed ? <span class="bad">{count(failed)}</span> : <span class="faint">{count(worker.failed)}</span>}
			</td>
			<td class="n" data-label="released">{count(worker.released)}</td>
		</tr>
	);
}

function Table({ workers, jobs }: { workers: Worker[]; jobs: Map<string, Job[]> }) {
	return (
		<table class="cards">
			<thead>
				<tr>
					<th scope="col">Worker</th>
					<th scope="col">Heard of</th>
					<th scope="col">Started</th>
					<th scope="col">Queues</th>
					<th scope="col">Runs</th>
					<th scope="col" class="n">Done</th>
					<th scope="col" class="n">Failed</th>
					<th scope="col" class="n">Released</th>
				</tr>
			</thead>
			<tbody>
				{workers.map((one) => (
					<Row key={one.id} worker={one} jobs={jobs.get(one.name) ?? []} />
				))}
			</tbody>
		</table>
	);
}

export function WorkersPage() {
	const answer = useAnswer<{ workers: Worker[] }>("v1/workers", 2);
	const running = useAnswer<JobPage>(jobsPath(undefined, { state: "running" }, MOST_JOBS), 2);
	const jobs = new Map<string, Job[]>();
	for (const job of running.data?.jobs ?? []) {
		const name = job.worker ?? "";
		jobs.set(name, [...(jobs.get(name) ?? []), job]);
	}
	return (
		<Shown answer={answer} title="Workers">
			{({ workers }) => (
				<>
					<div class="bar">
						<h1>{plural(workers.length, "worker")}</h1>
					</div>
					{running.problem && (
						<p class="problem" role="alert">
							The running jobs could not be read. {running.problem.message}
						</p>
					)}
					{workers.length ? (
						<Pages list={workers} what="Workers">
							{(rows) => <Table workers={rows} jobs={jobs} />}
						</Pages>
					) : (
						<Empty title={readable() ? `No worker serves a queue${readable()}.` : "No worker runs."}>
							<pre>readpast work mail -- ./send-mail</pre>
						</Empty>
					)}
				</>
			)}
		</Shown>
	);
}
