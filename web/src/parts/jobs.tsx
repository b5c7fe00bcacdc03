// A table of jobs. Which time a row shows depends on the job's state.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { Since, Time } from "./time";
import { StateMark } from "./state";
import { Name } from "../name";
import { link } from "../route";
import type { Job } from "../types";

function When({ job }: { job: Job }) {
	switch (job.state) {
		case "running":
			return <Since at={job.claimed_at} />;
		case "scheduled":
			return (
				<>
					due <Time at={job.run_at} />
				</>
			);
		case "ready":
		case "blocked":
			return <Since at={job.run_at} />;
		default:
			return <Time at={job.finished_at} />;
	}
}

function Text({ job }: { job: Job }) {
	// The error of an earlier attempt matters no more once the job is done.
	if (job.last_error && job.state !== "done") return <span class="clip bad">{job.last_error}</span>;
	if (job.payload !== undefined) return <span class="clip mono">{job.payload}</span>;
	if (job.payload_base64 !== undefined) return <span class="faint">payload is not text</span>;
	return null;
}

export function JobTable({ jobs, showQueue }: { jobs: Job[]; showQueue?: boolean }) {
	return (
		<table class="jobs cards">
			<thead>
				<tr>
					<th scope="col" class="n">
						Id
					</th>
					{showQueue && <th scope="col">Queue</th>}
					<th scope="col">State</th>
					<th scope="col">When</th>
					<th scope="col">Kind</th>
					<th scope="col">Group, key</th>
					<th scope="col" class="n">
						Attempt
					</th>
					<th scope="col">Last error, or payload</th>
				</tr>
			</thead>
			<tbody>
				{jobs.map((job) => (
					<tr key={job.id}>
						<th scope="row" class="n">
							<a class="open id" href={link(["job", String(job.id)])}>
								{job.id}
							</a>
						</th>
						{showQueue && (
							<td data-label="queue">
								<Name of={job.queue} />
							</td>
						)}
						<td data-label="state">
							<StateMark state={job.state} />
						</td>
						<td data-label="when">
							<When job={job} />
						</td>
						<td data-label="kind">{job.kind && <Name of={job.kind} class="name" />}</td>
						<td data-label="group, key">
							{job.group_key && <Name of={job.group_key} class="name" />}
							{job.group_key && job.unique_key && <br />}
							{job.unique_key && <Name of={job.unique_key} class="name mono faint" />}
						</td>
						<td class="n" data-label="attempt">
							{job.attempt}
							<span class="faint">/{job.max_attempts}</span>
						</td>
						<td class="text">
							<Text job={job} />
						</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
