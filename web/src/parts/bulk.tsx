// A change of many jobs. The server is asked first how many it would change; the
// dialog shows this number and three of the jobs. If there are very many jobs, the
// server examines only a part of them, and the number is the least that match.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useEffect, useState } from "preact/hooks";
import { BULK_PATIENCE_MS, type Problem, post, segment } from "../api";
import { describe } from "../filter";
import { count, plural } from "../format";
import { Name, named } from "../name";
import { say } from "../toast";
import type { Filter, Job } from "../types";
import { Loading } from "./answer";
import { Buttons, Dialog, useAction } from "./dialog";
import { StateMark } from "./state";

export type Verb = "retry-dead" | "cancel" | "purge";

const WORDS: Record<Verb, { name: string; done: string; effect: string }> = {
	"retry-dead": {
		name: "Retry",
		done: "retried",
		effect: "They get all their attempts again.",
	},
	cancel: {
		name: "Cancel",
		done: "cancelled",
		effect: "They leave the queue. A worker that runs one of them is told so.",
	},
	purge: {
		name: "Delete",
		done: "deleted",
		effect: "They are deleted for good.",
	},
};

interface Changed {
	jobs: number;
	/** how many jobs were left, because a live job has their unique key */
	taken?: number;
	jobs_at_least?: boolean;
	examples?: Job[];
}

export function BulkDialog({
	verb,
	queue,
	filter,
	expected = Infinity,
	newest = 0,
	onClose,
	onDone,
}: {
	verb: Verb;
	queue: string;
	filter: Filter;
	/** how many jobs the page shows as one group; the filter may match more */
	expected?: number;
	/** how many of the newest dead jobs the page has read, if there are older ones */
	newest?: number;
	onClose: () => void;
	onDone: () => void;
}) {
	const [would, setWould] = useState<Changed | null>(null);
	const { busy, failure, setFailure, run } = useAction(onClose);
	const words = WORDS[verb];
	const path = `v1/queues/${segment(queue)}/${verb}`;
	const mayMatch = would !== null && (would.jobs > 0 || would.jobs_at_least === true);
	const label = !would
		? words.name
		: would.jobs_at_least
			? `${words.name} all jobs that match`
			: `${words.name} ${plural(would.jobs, "job")}`;
	const jobsAre = (n: number) => `${plural(n, "job")} of ${named(queue)} ${n === 1 ? "is" : "are"}`;
	const which = [filter.state, `jobs of queue ${named(queue)}`, describe(filter)].filter(Boolean).join(" ");

	useEffect(() => {
		post<Changed>(`${path}?dry_run=1`, filter).then(setWould, (problem: Problem) => setFailure(problem.message));
	}, []);

	async function changeAll(): Promise<void> {
		const { jobs, taken = 0 } = await post<Changed>(path, filter, BULK_PATIENCE_MS);
		say(jobs ? `${jobsAre(jobs)} ${words.done}.` : `No job of ${named(queue)} was changed.`);
		if (taken > 0) say(`${jobsAre(taken)} not ${words.done}: a live job has the same unique key.`, true);
	}

	async function submit(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		if (await run(changeAll)) onDone();
	}

	return (
		<Dialog title={`${words.name} ${which}`} onClose={onClose}>
			<form onSubmit={submit}>
				{!would && !failure && <Loading />}
				{would && (
					<>
						<p class="much" role="status">
							{would.jobs_at_least && "At least "}
							<b>{count(would.jobs)}</b> {would.jobs === 1 ? "job matches" : "jobs match"} now.
						</p>
						{would.jobs_at_least && <p class="hint">Only the first 10,000 jobs of each state were counted.</p>}
						{would.jobs > expected && (
							<p>
								The page shows {plural(expected, "job")} with this error. The others died later,{" "}
								{newest > 0 && `are older than the newest ${count(newest)} dead jobs, `}
								or have other errors that contain the same text.
							</p>
						)}
						{mayMatch && <p>{words.effect}</p>}
						<Examples jobs={would.examples ?? []} of={would.jobs} />
					</>
				)}
				<Buttons
					label={label}
					danger={verb !== "retry-dead"}
					busy={busy}
					off={!mayMatch}
					failure={failure}
					onClose={onClose}
				/>
			</form>
		</Dialog>
	);
}

function Examples({ jobs, of }: { jobs: Job[]; of: number }) {
	if (!jobs.length) return null;
	return (
		<>
			<p class="hint">{of > jobs.length ? `${count(jobs.length)} of them:` : "These:"}</p>
			<ul class="examples">
				{jobs.map((job) => (
					<li key={job.id}>
						<span class="id">{job.id}</span> {job.state && <StateMark state={job.state} />}{" "}
						{job.kind && <Name of={job.kind} />} <span class="clip">{job.last_error ?? job.payload}</span>
					</li>
				))}
			</ul>
		</>
	);
}
