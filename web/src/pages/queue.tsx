// One queue: its live numbers, its jobs, its groups and its settings.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useEffect } from "preact/hooks";
import { hasEnded, useAnswer } from "../answer";
import { segment } from "../api";
import { count, span } from "../format";
import { historyOf, stats } from "../live";
import { Name, named } from "../name";
import { Empty, Loading, Shown } from "../parts/answer";
import { Chart, type Line, RATES } from "../parts/chart";
import { GroupTable } from "../parts/groups";
import { Limits } from "../parts/limits";
import { PauseButton, pauseOf } from "../parts/pause";
import { QueueJobs } from "../parts/queuejobs";
import { Settings } from "../parts/settings";
import { Since } from "../parts/time";
import { link, route } from "../route";
import type { Group, Queue, Stats } from "../types";

const BACKLOG: Line[] = [
	{ key: "ready", label: "ready", color: "--ready", fill: true, isCount: true },
	{ key: "running", label: "running", color: "--running", isCount: true },
];

function Groups({ name }: { name: string }) {
	const { after } = route.value.query;
	const answer = useAnswer<{ groups: Group[]; next: string | null }>(
		`v1/groups?queue=${segment(name)}${after ? `&after=${segment(after)}` : ""}`,
		5,
	);
	return (
		<Shown answer={answer}>
			{(data) => (
				<>
					{data.groups.length ? (
						<GroupTable queue={name} groups={data.groups} />
					) : after ? (
						<Empty title="There are no further groups." />
					) : (
						<Empty title="This queue has no groups to show.">
							Groups are listed if the queue has the setting <code>group-limit</code>, or while a group is held.
						</Empty>
					)}
					{data.next && (
						<p class="more">
							<a class="button" href={link(["queue", name], { view: "groups", after: data.next })}>
								More groups
							</a>
						</p>
					)}
				</>
			)}
		</Shown>
	);
}

/** Before the first numbers arrive, the facts have their place, so that nothing below
 * them moves away from under the pointer. */
function Facts({ of }: { of: Stats | undefined }) {
	return (
		<dl class="facts">
			<div>
				<dt>Oldest due job</dt>
				<dd>{span(of?.oldest_ready_ms ?? null)}</dd>
			</div>
			<div>
				<dt>Longest run</dt>
				<dd>{span(of?.longest_running_ms ?? null)}</dd>
			</div>
			<div>
				<dt>Workers</dt>
				<dd>
					{of?.workers === 0 && of.ready > 0 ? <span class="bad">none</span> : <a href={link(["workers"])}>{of ? count(of.workers) : "–"}</a>}
				</dd>
			</div>
		</dl>
	);
}

const VIEWS: [view: string | undefined, label: string][] = [
	[undefined, "Jobs"],
	["groups", "Groups"],
	["settings", "Settings"],
];

export function QueuePage({ name }: { name: string }) {
	const { view } = route.value.query;
	const settings = useAnswer<Queue>(`v1/queues/${segment(name)}`, 10);
	const numbers = stats.value?.find((one) => one.queue === name);
	const history = historyOf(name);
	const { paused, reason } = pauseOf(numbers, settings.data);

	// If the live numbers disagree, the queue was dropped or made again. Then ask at once.
	const isGone = settings.problem?.status === 404;
	useEffect(() => {
		if (stats.value && isGone !== !numbers && !settings.loading) settings.reload();
	}, [stats.value]);

	if (isGone)
		return (
			<Empty title={`There is no queue ${named(name)}.`} isPage>
				<a href={link(["queues"])}>Show all queues</a>
			</Empty>
		);
	return (
		<>
			<div class="bar">
				<h1>
					<a class="up" href={link(["queues"])}>
						Queues
					</a>{" "}
					<Name of={name} />
				</h1>
				<PauseButton queue={name} paused={paused} onDone={settings.reload} />
			</div>
			{!hasEnded(settings) && <Loading />}
			{/* Until the notes above them are known, the other parts only read. */}
			<div hidden={!hasEnded(settings)}>
				{paused && (
					<p class="paused note">
						<span class="tag warn">paused</span> <Since at={settings.data?.paused_at} />
						{reason && <>: <bdi>{reason}</bdi></>}
					</p>
				)}
				{settings.data && <Limits of={settings.data} />}
				<div class="charts">
					<Chart title="Rate" history={history} lines={RATES} />
					<Chart title="Backlog" history={history} lines={BACKLOG} numbers={numbers} />
					<Facts of={numbers} />
				</div>
				<nav class="views" aria-label="Parts of the queue">
					{VIEWS.map(([one, label]) => (
						<a key={label} href={link(["queue", name], { view: one })} aria-current={view === one ? "page" : undefined}>
							{label}
						</a>
					))}
				</nav>
				{view === "groups" ? (
					<Groups name={name} />
				) : view === "settings" ? (
					<Shown answer={settings}>{(data) => <Settings of={data} onDone={settings.reload} />}</Shown>
				) : (
					<QueueJobs name={name} numbers={numbers} />
				)}
			</div>
		</>
	);
}
