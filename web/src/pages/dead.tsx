// Dead jobs grouped by their error, so that one decision is enough for each cause.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useEffect, useState } from "preact/hooks";
import { useReloadAfterFailure } from "../answer";
import { get, Problem } from "../api";
import { jobsPath } from "../filter";
import { count, plural } from "../format";
import { type DeadGroup, DeadGroups } from "../groupdead";
import { stats } from "../live";
import { Name } from "../name";
import { Empty, Failure, Loading } from "../parts/answer";
import { BulkDialog, type Verb } from "../parts/bulk";
import { Pages } from "../parts/pages";
import { Time } from "../parts/time";
import { link } from "../route";
import { mayChange, readable } from "../session";
import type { JobPage } from "../types";

const PAGE_JOBS = 200;
const MOST_JOBS = 10000;

interface Progress {
	groups: DeadGroup[];
	examined: number;
	isComplete: boolean;
	hasMore: boolean;
	problem: Problem | null;
}

const START: Progress = { groups: [], examined: 0, isComplete: false, hasMore: false, problem: null };

/** Read the newest dead jobs page by page, and show what was read so far. The groups keep
 * their places until the end, when the largest come first. */
async function readAll(show: (progress: Progress) => void, cancel: AbortSignal): Promise<void> {
	const groups = new DeadGroups();
	let cursor: string | null = null;
	const now = (part: Partial<Progress>) =>
		show({ ...START, groups: groups.list(), examined: groups.examined, ...part });
	try {
		do {
			const path: string = jobsPath(undefined, { state: "dead" }, PAGE_JOBS, cursor ?? undefined);
			const page: JobPage = await get<JobPage>(path, cancel);
			groups.add(page.jobs);
			cursor = page.next;
			now({});
		} while (cursor && groups.examined < MOST_JOBS);
		now({ groups: groups.sorted(), isComplete: true, hasMore: cursor !== null });
	} catch (error) {
		if (!cancel.aborted) now({ groups: groups.sorted(), problem: error as Problem });
	}
}

function Row({ of, onAct }: { of: DeadGroup; onAct: (verb: Verb) => void }) {
	return (
		<tr>
			<td class="n big" data-label="jobs">
				{count(of.count)}
			</td>
			<th scope="row" class="text">
				<a class="open" href={link(["queue", of.queue], { state: "dead", error: of.common || undefined })}>
					{of.error || "no error text"}
				</a>
			</th>
			<td data-label="queue">
				<a class="name" href={link(["queue", of.queue], { state: "dead" })}>
					<Name of={of.queue} />
				</a>
			</td>
			<td data-label="newest">
				<Time at={of.newest.finished_at} /> <a href={link(["job", String(of.newest.id)])}>{of.newest.id}</a>
			</td>
			<td data-label="oldest">
				<Time at={of.oldestAt} />
			</td>
			<td class="actions">
				{mayChange(of.queue) && of.common && (
					<>
						<button type="button" aria-label={`Retry: ${of.error}`} onClick={() => onAct("retry-dead")}>
							Retry…
						</button>
						<button type="button" aria-label={`Delete: ${of.error}`} onClick={() => onAct("purge")}>
							Delete…
						</button>
					</>
				)}
			</td>
		</tr>
	);
}

function Table({ groups, onAct }: { groups: DeadGroup[]; onAct: (group: DeadGroup, verb: Verb) => void }) {
	return (
		<table class="dead cards">
			<thead>
				<tr>
					<th scope="col" class="n">Jobs</th>
					<th scope="col">Error</th>
					<th scope="col">Queue</th>
					<th scope="col">Newest</th>
					<th scope="col">Oldest</th>
					<th scope="col">
						<span class="hidden">Actions</span>
					</th>
				</tr>
			</thead>
			<tbody>
				{groups.map((one) => (
					<Row key={`${one.queue} ${one.newest.id}`} of={one} onAct={(verb) => onAct(one, verb)} />
				))}
			</tbody>
		</table>
	);
}

export function DeadPage() {
	const [progress, setProgress] = useState(START);
	const [round, setRound] = useState(0);
	// The open dialog keeps its group as it was, even if the page reads on.
	const [open, setOpen] = useState<{ group: DeadGroup; verb: Verb; read: Progress } | null>(null);
	const again = () => setRound((n) => n + 1);

	useEffect(() => {
		const cancel = new AbortController();
		void readAll(setProgress, cancel.signal);
		return () => cancel.abort();
	}, [round]);

	const { groups, examined, isComplete, hasMore, problem } = progress;
	useReloadAfterFailure(problem, again);
	const dead = stats.value?.reduce((n, one) => n + one.dead, 0);
	const isReading = !isComplete && !problem;
	const read = `${plural(groups.length, "error")} in the newest ${plural(examined, "dead job")}`;
	return (
		<>
			<div class="bar">
				<h1>Dead jobs</h1>
				<p class="soft">
					{isReading && `${read}, reading…`}
					{/* A screen reader announces only the end. */}
					<span role="status">{!isReading && read}</span>
					{hasMore && dead !== undefined && `, of ${count(dead)}`}
				</p>
				<button type="button" onClick={again}>
					Read again
				</button>
			</div>
			{problem && (
				<Failure
					title="Not all dead jobs could be read."
					message={problem.message}
					isOver={groups.length > 0}
					onRetry={again}
				/>
			)}
			{groups.length > 0 && (
				<Pages list={groups} what="Errors">
					{(rows) => <Table groups={rows} onAct={(group, verb) => setOpen({ group: { ...group }, verb, read: progress })} />}
				</Pages>
			)}
			{!groups.length && isReading && <Loading />}
			{!groups.length && isComplete && <Empty title={`No job${readable()} is dead.`}>Jobs that use up their attempts appear here, grouped by error.</Empty>}
			{open && (
				<BulkDialog
					verb={open.verb}
					queue={open.group.queue}
					filter={{ state: "dead", error: open.group.common }}
					expected={open.read.isComplete ? open.group.count : Infinity}
					newest={open.read.hasMore ? open.read.examined : 0}
					onClose={() => setOpen(null)}
					onDone={again}
				/>
			)}
		</>
	);
}
