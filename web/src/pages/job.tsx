// One job: why it does not run, what happened to it, and what is in it.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { type Answer, hasEnded, useAnswer } from "../answer";
import { segment } from "../api";
import { duration } from "../format";
import { Name, visible } from "../name";
import { Empty, Shown } from "../parts/answer";
import { Bytes } from "../parts/bytes";
import { JobActions } from "../parts/jobactions";
import { StateMark } from "../parts/state";
import { Time } from "../parts/time";
import { Timeline } from "../parts/timeline";
import { link } from "../route";
import { readable, session } from "../session";
import type { Job, Why } from "../types";

/** Read the job again after this many live events. */
const FOLLOW = 3;

function Reason({ answer }: { answer: Answer<Why> }) {
	return (
		<section class="why" aria-labelledby="why">
			<h2 id="why" class="hidden">
				Why it does not run
			</h2>
			<Shown answer={answer}>
				{(why) => (
					<p>
						{why.reason !== why.state && <span class="tag">{why.reason}</span>} <bdi>{visible(why.text)}</bdi>
					</p>
				)}
			</Shown>
		</section>
	);
}

function Facts({ job }: { job: Job }) {
	const facts: [string, unknown][] = [
		["Queue", <a href={link(["queue", job.queue])}><Name of={job.queue} /></a>],
		["Kind", job.kind && <Name of={job.kind} />],
		["Group", job.group_key && <a href={link(["queue", job.queue], { group: job.group_key })}><Name of={job.group_key} /></a>],
		["Unique key", job.unique_key && <Name of={job.unique_key} class="mono" />],
		["Priority", job.priority],
		["Attempt", `${job.attempt} of ${job.max_attempts}`],
		["Worker", job.worker && <Name of={job.worker} />],
		["Enqueued", <Time at={job.created_at} />],
		["Expires", job.expire_at && <Time at={job.expire_at} />],
		["Timeout", job.timeout_ms && duration(job.timeout_ms)],
		["Kept for", job.keep_ms && duration(job.keep_ms)],
		["Backoff", job.backoff && job.backoff.map(duration).join(", ")],
		["Key kept for", job.unique_for_ms && duration(job.unique_for_ms)],
	];
	return (
		<dl class="facts column">
			{facts.map(
				([name, value]) =>
					value !== null &&
					value !== undefined &&
					value !== "" && (
						<div key={name}>
							<dt>{name}</dt>
							<dd>{value as string}</dd>
						</div>
					),
			)}
		</dl>
	);
}

function Headers({ of }: { of: Job["headers"] }) {
	if (!of) return null;
	const rows = typeof of === "string" ? [["", of]] : Object.entries(of);
	return (
		<section>
			<h2>Headers</h2>
			<table class="headers">
				<tbody>
					{rows.map(([name, value]) => (
						<tr key={name as string}>
							<th scope="row">
								<span class="name">{name as string}</span>
							</th>
							<td class="mono">{typeof value === "string" ? value : JSON.stringify(value)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}

function Payload({ job }: { job: Job }) {
	if (session.value.hide_payloads)
		return <p class="note">This server does not show payloads and headers.</p>;
	return (
		<>
			<Bytes title="Payload" text={job.payload} base64={job.payload_base64} size={job.payload_size} isCut={job.payload_cut} href={`v1/jobs/${job.id}/payload`} />
			<Headers of={job.headers} />
		</>
	);
}

function Details({ job, why, onDone }: { job: Job; why: Answer<Why>; onDone: () => void }) {
	return (
		<>
			<div class="bar">
				<h1>
					<a class="up" href={link(["queue", job.queue])}>
						<Name of={job.queue} />
					</a>{" "}
					Job {job.id} <StateMark state={job.state} />
				</h1>
				<JobActions job={job} onDone={onDone} />
			</div>
			<Reason answer={why} />
			<div class="job">
				<div>
					{job.progress !== null && (
						<section>
							<h2>Progress</h2>
							<p class="progress">{job.progress}</p>
						</section>
					)}
					{(job.result !== null && job.result !== undefined) || job.result_base64 !== undefined ? (
						<Bytes title="Result" text={job.result} base64={job.result_base64} />
					) : null}
					<Payload job={job} />
				</div>
				<aside>
					<h2>What happened</h2>
					<Timeline job={job} />
					<h2>Fields</h2>
					<Facts job={job} />
				</aside>
			</div>
		</>
	);
}

export function JobPage({ id }: { id: string }) {
	const path = `v1/jobs/${segment(id)}`;
	const answer = useAnswer<Job>(path, FOLLOW);
	const why = useAnswer<Why>(`${path}/why`, FOLLOW);
	const { problem, data, reload } = answer;
	if (problem?.status === 404)
		return (
			<Empty title={data ? `Job ${id} is not there any more.` : `There is no job ${id}${readable()}.`} isPage>
				A done job is kept only if its queue keeps done jobs.
			</Empty>
		);

	function readBoth(): void {
		reload();
		why.reload();
	}

	// The reason is above the other parts, so they wait for it.
	return (
		<Shown answer={hasEnded(why) ? answer : { ...answer, data: null, loading: true }} title={`Job ${id}`}>
			{(job) => <Details job={job} why={why} onDone={readBoth} />}
		</Shown>
	);
}
