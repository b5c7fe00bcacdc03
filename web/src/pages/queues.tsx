// All queues, live.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { hasEnded, useAnswer } from "../answer";
import { count, plural, rate, span } from "../format";
import { historyOf, stats, total } from "../live";
import { Name } from "../name";
import { Empty, Loading, Shown } from "../parts/answer";
import { Chart, RATES } from "../parts/chart";
import { Limits } from "../parts/limits";
import { Pages } from "../parts/pages";
import { PauseButton, pauseOf } from "../parts/pause";
import { Spark } from "../parts/spark";
import { amend, link, route } from "../route";
import { readable } from "../session";
import type { Queue, State, Stats } from "../types";

function Total({ label, value, title }: { label: string; value: string; title?: string }) {
	return (
		<div class="total" title={title}>
			<dt>{label}</dt>
			<dd>{value}</dd>
		</div>
	);
}

function Totals({ list }: { list: Stats[] }) {
	const sum = (field: State) => list.reduce((n, one) => n + one[field], 0);
	const some = (field: "ready" | "running" | "blocked" | "scheduled") =>
		list.some((one) => one[`${field}_at_least`]);
	const oldest = Math.max(-1, ...list.map((one) => one.oldest_ready_ms ?? -1));
	return (
		<dl class="totals">
			<Total label="Ready" value={count(sum("ready"), some("ready"))} />
			<Total label="Running" value={count(sum("running"), some("running"))} />
			<Total label="Oldest due" value={oldest < 0 ? "–" : span(oldest)} title="how long the oldest due job has waited; jobs that wait for their group do not count" />
			<Total label="Dead" value={count(sum("dead"))} />
		</dl>
	);
}

function Count({ of, state }: { of: Stats; state: State }) {
	const n = of[state];
	const text = count(n, of[`${state}_at_least` as "ready_at_least"]);
	if (n === 0) return <span class="faint">0</span>;
	return (
		<a class={`count ${state}`} href={link(["queue", of.queue], { state })}>
			{text}
		</a>
	);
}

interface RowProps {
	of: Stats;
	settings: Queue | undefined;
	onDone: () => void;
}

function Row({ of, settings, onDone }: RowProps) {
	const history = historyOf(of.queue);
	const { paused, reason } = pauseOf(of, settings);
	return (
		<tr class={paused ? "paused" : undefined}>
			<th scope="row">
				<a class="open" href={link(["queue", of.queue])}>
					<Name of={of.queue} />
				</a>
				{paused && (
					<p class="note">
						<span class="tag warn">paused</span> <bdi>{reason}</bdi>
					</p>
				)}
				{settings && <Limits of={settings} />}
			</th>
			<td class="sparkcell">
				<Spark history={history} />
			</td>
			<td class="n" data-label="done/s">
				{rate(of.done_per_s)}
				{of.failed_per_s > 0 && <span class="failing"> {rate(of.failed_per_s)} failed</span>}
			</td>
			<td class="n" data-label="scheduled">
				<Count of={of} state="scheduled" />
			</td>
			<td class="n" data-label="blocked">
				<Count of={of} state="blocked" />
			</td>
			<td class="n" data-label="ready">
				<Count of={of} state="ready" />
			</td>
			<td class="n" data-label="running">
				<Count of={of} state="running" />
			</td>
			<td class="n" data-label="dead">
				<Count of={of} state="dead" />
			</td>
			<td class="n" data-label="oldest due">
				{of.oldest_ready_ms === null ? <span class="faint">–</span> : span(of.oldest_ready_ms)}
			</td>
			<td class="n" data-label="workers">
				{of.workers === 0 && of.ready > 0 ? <span class="bad">none</span> : count(of.workers)}
			</td>
			<td class="actions">
				<PauseButton queue={of.queue} paused={paused} onDone={onDone} />
			</td>
		</tr>
	);
}

interface ListProps {
	list: Stats[];
	/** null: not known yet; with its notes a row is taller */
	settings: Map<string, Queue> | null;
	/** called after a queue was paused or resumed */
	onDone: () => void;
}

function Table({ list, settings, onDone }: ListProps) {
	return (
		<table class="queues cards">
			<thead>
				<tr>
					<th scope="col">Queue</th>
					<th scope="col">Last 2 minutes</th>
					<th scope="col" class="n">Done/s</th>
					<th scope="col" class="n">Scheduled</th>
					<th scope="col" class="n">Blocked</th>
					<th scope="col" class="n">Ready</th>
					<th scope="col" class="n">Running</th>
					<th scope="col" class="n">Dead</th>
					<th scope="col" class="n">Oldest due</th>
					<th scope="col" class="n">Workers</th>
					<th scope="col">
						<span class="hidden">Actions</span>
					</th>
				</tr>
			</thead>
			<tbody>
				{list.map((one) => (
					<Row key={one.queue} of={one} settings={settings?.get(one.queue)} onDone={onDone} />
				))}
			</tbody>
		</table>
	);
}

function Queues({ list, settings, onDone }: ListProps) {
	const { name: find = "" } = route.value.query;
	if (list.length === 0)
		return readable() ? (
			<Empty title={`There is no queue${readable()}.`} isPage />
		) : (
			<Empty title="This database has no queue yet." isPage>
				<p>The first job makes its queue:</p>
				<pre>readpast enqueue mail 'hello'</pre>
			</Empty>
		);
	const found = list.filter((one) => one.queue.toLowerCase().includes(find.toLowerCase()));
	return (
		<>
			<div class="overview">
				<Totals list={list} />
				<Chart title="All queues" history={total} lines={RATES} />
			</div>
			<div class="bar">
				<h1>{plural(list.length, "queue")}</h1>
				<label class="filter">
					<span class="hidden">Show only queues whose name contains</span>
					<input type="search" placeholder="Name contains" value={find} onInput={(event) => amend({ name: event.currentTarget.value, from: undefined })} />
				</label>
			</div>
			{!settings ? (
				<Loading />
			) : found.length ? (
				<Pages list={found} what="Queues">
					{(rows) => <Table list={rows} settings={settings} onDone={onDone} />}
				</Pages>
			) : (
				<Empty title={`No queue's name contains “${find}”.`} />
			)}
		</>
	);
}

/** Shows all queues with their live numbers. Until live numbers arrive, the page shows
 * the answer to one call of v1/stats. Both are shown by the same components, so what the
 * user has typed stays. */
export function QueuesPage() {
	const live = stats.value;
	const first = useAnswer<{ queues: Stats[] }>(live ? null : "v1/stats");
	const settings = useAnswer<{ queues: Queue[] }>("v1/queues", 10);
	const byName = hasEnded(settings) ? new Map(settings.data?.queues.map((queue) => [queue.queue, queue])) : null;
	const answer = live ? { ...first, data: { queues: live }, problem: null } : first;
	return (
		<Shown answer={answer} title="Queues">
			{(data) => <Queues list={data.queues} settings={byName} onDone={settings.reload} />}
		</Shown>
	);
}
