// One queue: its live numbers, its jobs, its groups and its settings.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { segment } from "../api";
import { FILTERS, filterOf, jobsPath } from "../filter";
import { count, span } from "../format";
import { historyOf, stats } from "../live";
import { Empty, Shown } from "../parts/answer";
import { BulkDialog, type Verb } from "../parts/bulk";
import { Chart, type Line } from "../parts/chart";
import { Field, readForm } from "../parts/field";
import { GroupTable } from "../parts/groups";
import { JobTable } from "../parts/jobs";
import { Limits } from "../parts/limits";
import { PauseButton } from "../parts/pause";
import { Settings } from "../parts/settings";
import { Since } from "../parts/time";
import { go, link, route } from "../route";
import { session } from "../session";
import type { Filter, Group, JobPage, Queue, State, Stats } from "../types";

const PAGE_ROWS = 100;

const RATES: Line[] = [
	{ key: "done", label: "done/s", color: "--running", fill: true },
	{ key: "failed", label: "failed/s", color: "--dead" },
];
const BACKLOG: Line[] = [
	{ key: "ready", label: "ready", color: "--ready", fill: true, isCount: true },
	{ key: "running", label: "running", color: "--running", isCount: true },
];

/** In the order in which a job passes through them. */
const TABS: State[] = ["scheduled", "blocked", "ready", "running", "done", "dead", "cancelled"];

function StateTabs({ name, numbers, filter }: { name: string; numbers: Stats | undefined; filter: Filter }) {
	const { state: current, ...rest } = filter;
	return (
		<nav class="tabs" aria-label="States">
			<a href={link(["queue", name], rest)} aria-current={current ? undefined : "page"}>
				unfinished
			</a>
			{TABS.map((state) => {
				const n = numbers?.[state];
				if (state === "blocked" && n === undefined) return null;
				return (
					<a
						key={state}
						class={state}
						href={link(["queue", name], { ...rest, state })}
						aria-current={current === state ? "page" : undefined}
					>
						{state} <b>{count(n, numbers?.[`${state}_at_least` as "ready_at_least"])}</b>
					</a>
				);
			})}
		</nav>
	);
}

function FilterForm({ name, filter, hasGroups }: { name: string; filter: Filter; hasGroups: boolean }) {
	const isSet = FILTERS.some((one) => filter[one.name]);
	return (
		<form
			class="filters"
			key={JSON.stringify(filter)}
			onSubmit={(event) => {
				event.preventDefault();
				go(["queue", name], { state: filter.state, ...readForm(event.currentTarget) });
			}}
		>
			{FILTERS.filter((one) => hasGroups || one.name !== "group").map((one) => (
				<Field key={one.name} {...one} value={filter[one.name]} />
			))}
			<button type="submit">Filter</button>
			{isSet && <a href={link(["queue", name], { state: filter.state })}>Show all</a>}
		</form>
	);
}

/** Which changes of many jobs are possible in the state that is shown. */
function verbsOf(state: string | undefined): [Verb, string][] {
	switch (state) {
		case "dead":
			return [
				["retry-dead", "Retry these…"],
				["purge", "Delete these…"],
			];
		case "done":
		case "cancelled":
			return [["purge", "Delete these…"]];
		case "running":
			return [["cancel", "Cancel these…"]];
		case undefined:
			return [["cancel", "Cancel these…"]];
		default:
			return [
				["cancel", "Cancel these…"],
				["purge", "Delete these…"],
			];
	}
}

function Jobs({ name, numbers, hasGroups }: { name: string; numbers: Stats | undefined; hasGroups: boolean }) {
	const { query } = route.value;
	const filter = filterOf(query);
	const answer = useAnswer<JobPage>(jobsPath(name, filter, PAGE_ROWS, query.cursor), query.cursor ? 0 : 5);
	const [verb, setVerb] = useState<Verb | null>(null);
	return (
		<>
			<StateTabs name={name} numbers={numbers} filter={filter} />
			<div class="bar low">
				<FilterForm name={name} filter={filter} hasGroups={hasGroups} />
				{!session.value.read_only && (
					<div class="actions">
						{verbsOf(filter.state).map(([one, label]) => (
							<button key={one} type="button" onClick={() => setVerb(one)}>
								{label}
							</button>
						))}
					</div>
				)}
			</div>
			<Shown answer={answer}>
				{(page) => (
					<>
						{page.partial && <p class="note">Only the first 10,000 jobs of each state were searched.</p>}
						{page.jobs.length ? <JobTable jobs={page.jobs} /> : <NoJobs filter={filter} cursor={query.cursor} />}
						<p class="more">
							{query.cursor && <a class="button" href={link(["queue", name], { ...filter })}>First jobs</a>}{" "}
							{page.next && (
								<a class="button" href={link(["queue", name], { ...filter, cursor: page.next })}>
									More jobs
								</a>
							)}
						</p>
					</>
				)}
			</Shown>
			{verb && (
				<BulkDialog verb={verb} queue={name} filter={filter} onClose={() => setVerb(null)} onDone={answer.reload} />
			)}
		</>
	);
}

function NoJobs({ filter, cursor }: { filter: Filter; cursor: string | undefined }) {
	if (cursor) return <Empty title="There are no further jobs." />;
	if (FILTERS.some((one) => filter[one.name])) return <Empty title="No job matches this filter." />;
	if (filter.state === "done")
		return (
			<Empty title="No done job is kept.">
				A queue keeps done jobs only if its setting <code>keep-done</code> says so.
			</Empty>
		);
	if (filter.state) return <Empty title={`No job is ${filter.state}.`} />;
	return <Empty title="Nothing to do: this queue has no unfinished job." />;
}

function Groups({ name }: { name: string }) {
	const { after } = route.value.query;
	const answer = useAnswer<{ groups: Group[]; next?: string | null }>(
		`v1/groups?queue=${segment(name)}${after ? `&after=${segment(after)}` : ""}`,
		5,
	);
	return (
		<Shown answer={answer}>
			{(data) => (
				<>
					{data.groups.length ? (
						<GroupTable queue={name} groups={data.groups} />
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

function Facts({ of }: { of: Stats }) {
	return (
		<dl class="facts">
			<div>
				<dt>Oldest ready job</dt>
				<dd>{of.oldest_ready_ms === null ? "–" : span(of.oldest_ready_ms)}</dd>
			</div>
			<div>
				<dt>Longest run</dt>
				<dd>{of.longest_running_ms === null ? "–" : span(of.longest_running_ms)}</dd>
			</div>
			<div>
				<dt>Workers</dt>
				<dd>
					{of.workers === 0 && of.ready > 0 ? <span class="bad">none</span> : <a href={link(["workers"])}>{count(of.workers)}</a>}
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
	const hasGroups = settings.data?.group_limit !== undefined; // an older server has none
	const paused = numbers?.paused ?? Boolean(settings.data?.paused_at);

	const reason = numbers?.pause_reason ?? settings.data?.pause_reason;

	if (settings.problem?.status === 404)
		return (
			<Empty title={`There is no queue ${name}.`}>
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
					{name}
				</h1>
				<PauseButton queue={name} paused={paused} onDone={settings.reload} />
			</div>
			{paused && (
				<p class="paused note">
					<span class="tag warn">paused</span> <Since at={settings.data?.paused_at} />
					{reason && `: ${reason}`}
				</p>
			)}
			{settings.data && <Limits of={settings.data} />}
			<div class="charts">
				<Chart title="Rate" history={history} lines={RATES} />
				<Chart title="Backlog" history={history} lines={BACKLOG} />
				{numbers && <Facts of={numbers} />}
			</div>
			<nav class="views" aria-label="Parts of the queue">
				{VIEWS.filter(([one]) => hasGroups || one !== "groups").map(([one, label]) => (
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
				<Jobs name={name} numbers={numbers} hasGroups={hasGroups} />
			)}
		</>
	);
}
