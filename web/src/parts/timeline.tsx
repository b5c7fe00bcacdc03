// The events of a job, oldest first. The database keeps the last 10 failed attempts.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";
import { span } from "../format";
import { Name } from "../name";
import type { Failure, Job } from "../types";
import { Time } from "./time";

function Event({ kind, at, title, children }: { kind: string; at: string | null; title: string; children?: ComponentChildren }) {
	return (
		<li class={kind}>
			<p>
				<b>{title}</b> <span class="soft"><Time at={at} /></span>
			</p>
			{children}
		</li>
	);
}

function Worker({ name }: { name: string | null }) {
	if (!name) return <>a client that is not a worker</>;
	return (
		<>
			worker <Name of={name} />
		</>
	);
}

function Failed({ of }: { of: Failure }) {
	const isLost = Boolean(of.seen_at);
	return (
		<Event kind="failed" at={of.at} title={isLost ? `Attempt ${of.attempt} lost its lease` : `Attempt ${of.attempt} failed`}>
			{of.text && <pre>{of.text}</pre>}
			<p class="soft">
				<Worker name={of.worker} />
				{of.host && (
					<>
						{" "}
						on host <Name of={of.host} />
					</>
				)}
				{isLost && (
					<>
						, last heard of <Time at={of.seen_at} />
					</>
				)}
			</p>
		</Event>
	);
}

/** The last event: what the job does now, or how it ended. */
function Last({ job }: { job: Job }) {
	switch (job.state) {
		case "running":
			return (
				<Event kind="running" at={job.claimed_at} title={`Attempt ${job.attempt} started`}>
					<p class="soft">
						<Worker name={job.worker} />, lease ends <Time at={job.lease_until} />
					</p>
				</Event>
			);
		case "scheduled":
			return <Event kind="scheduled" at={job.run_at} title={job.attempt ? "Next attempt" : "Due"} />;
		case "ready":
			return <Event kind="ready" at={job.run_at} title="Ready" />;
		case "blocked":
			return <Event kind="blocked" at={job.run_at} title="Blocked" />;
		default: {
			const after = job.finished_at ? Date.parse(job.finished_at) - Date.parse(job.created_at) : NaN;
			return (
				<Event kind={job.state} at={job.finished_at} title={`${job.state[0]?.toUpperCase()}${job.state.slice(1)}`}>
					<p class="soft">
						{job.state === "done" && (
							<>
								in attempt {job.attempt}
								{job.worker && (
									<>
										{" "}
										by <Worker name={job.worker} />
									</>
								)}
								,{" "}
							</>
						)}
						{!Number.isNaN(after) && `${span(after)} after it was enqueued`}
					</p>
				</Event>
			);
		}
	}
}

export function Timeline({ job }: { job: Job }) {
	const failures = job.failures ?? [];
	const first = failures[0]?.attempt ?? 1;
	return (
		<ol class="timeline">
			<Event kind="created" at={job.created_at} title="Enqueued" />
			{first > 1 && <li class="gap soft">Attempts before {first} are not recorded any more.</li>}
			{failures.map((one, i) => (
				<Failed key={i} of={one} />
			))}
			<Last job={job} />
		</ol>
	);
}
