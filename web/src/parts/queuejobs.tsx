// The jobs of one queue: states, filters, changes of many jobs.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { FILTERS, filterOf, jobsPath } from "../filter";
import { count } from "../format";
import { go, link, route } from "../route";
import { mayChange } from "../session";
import { type Filter, type JobPage, STATES, type Stats } from "../types";
import { Empty, Shown } from "./answer";
import { BulkDialog, type Verb } from "./bulk";
import { Field, readChanges } from "./field";
import { JobTable } from "./jobs";

const PAGE_ROWS = 100;

function StateTabs({ name, numbers, filter }: { name: string; numbers: Stats | undefined; filter: Filter }) {
	const { state: current, ...rest } = filter;
	return (
		<nav class="tabs" aria-label="States">
			<a href={link(["queue", name], rest)} aria-current={current ? undefined : "page"}>
				unfinished
			</a>
			{STATES.map((state) => {
				const n = numbers?.[state];
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

function FilterForm({ name, filter }: { name: string; filter: Filter }) {
	const form = useRef<HTMLFormElement>(null);
	const isSet = FILTERS.some((one) => filter[one.name]);

	// The fields show another filter, whatever was typed before.
	useLayoutEffect(() => form.current?.reset(), [JSON.stringify(filter)]);
	return (
		<form
			class="filters"
			ref={form}
			onSubmit={(event) => {
				event.preventDefault();
				go(["queue", name], { ...filter, ...readChanges(event.currentTarget) });
			}}
		>
			{FILTERS.map((one) => (
				<Field key={one.name} {...one} value={filter[one.name]} />
			))}
			<button type="submit">Filter</button>
			{isSet && <a href={link(["queue", name], { state: filter.state })}>Show all</a>}
		</form>
	);
}

/** Returns the changes that the page offers for many jobs of this state. */
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
		case undefined:
			return [["cancel", "Cancel these…"]];
		default:
			return [
				["cancel", "Cancel these…"],
				["purge", "Delete these…"],
			];
	}
}

export function QueueJobs({ name, numbers }: { name: string; numbers: Stats | undefined }) {
	const { query } = route.value;
	const filter = filterOf(query);
	const answer = useAnswer<JobPage>(jobsPath(name, filter, PAGE_ROWS, query.cursor), query.cursor ? 0 : 5);
	const list = useRef<HTMLElement>(null);
	// These links are in the list that they replace, so the focus would be lost.
	const focusList = () => list.current?.focus({ preventScroll: true });
	// The open dialog keeps its filter, even if the browser's Back changes the page's.
	const [asked, setAsked] = useState<{ verb: Verb; filter: Filter } | null>(null);
	return (
		<>
			<StateTabs name={name} numbers={numbers} filter={filter} />
			<div class="bar low">
				<FilterForm name={name} filter={filter} />
				{mayChange(name) && (
					<div class="actions">
						{verbsOf(filter.state).map(([one, label]) => (
							<button key={one} type="button" onClick={() => setAsked({ verb: one, filter })}>
								{label}
							</button>
						))}
					</div>
				)}
			</div>
			<section ref={list} tabIndex={-1} aria-label="Jobs">
				<Shown answer={answer}>
					{(page) => (
						<>
							{page.partial && <p class="note">Only the first 10,000 jobs of each state were searched.</p>}
							{page.jobs.length ? <JobTable jobs={page.jobs} /> : <NoJobs filter={filter} cursor={query.cursor} />}
							<p class="more">
								{query.cursor && (
									<a class="button" href={link(["queue", name], { ...filter })} onClick={focusList}>
										First jobs
									</a>
								)}{" "}
								{page.next && (
									<a class="button" href={link(["queue", name], { ...filter, cursor: page.next })} onClick={focusList}>
										More jobs
									</a>
								)}
							</p>
						</>
					)}
				</Shown>
			</section>
			{asked && <BulkDialog {...asked} queue={name} onClose={() => setAsked(null)} onDone={answer.reload} />}
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
