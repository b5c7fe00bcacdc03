// The schedules, with their last and their next fire.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { post, segment } from "../api";
import { plural } from "../format";
import { Name, named } from "../name";
import { Empty, Shown } from "../parts/answer";
import { Button } from "../parts/button";
import { Pages } from "../parts/pages";
import { StateMark } from "../parts/state";
import { Since, Time } from "../parts/time";
import { link } from "../route";
import { mayChange, readable } from "../session";
import { act } from "../toast";
import type { Schedule } from "../types";

function Actions({ of, onDone }: { of: Schedule; onDone: () => void }) {
	const [busy, setBusy] = useState(false);
	if (!mayChange(of.queue)) return null;

	const path = `v1/schedules/${segment(of.name)}`;
	const name = named(of.name);

	async function run(work: () => Promise<unknown>, done: string): Promise<void> {
		setBusy(true);
		await act(work, done);
		setBusy(false);
		onDone();
	}

	/** The server answers "existing", and enqueues no job, if the last one is still live and
	 * the schedule's overlap is "skip". */
	async function fire(): Promise<void> {
		const { id, outcome } = await post<{ id: number; outcome: string }>(`${path}/run`);
		if (outcome === "existing")
			throw new Error(`${name} was not run: it has overlap skip, and its job ${id} is still live.`);
	}

	return (
		<>
			<Button off={busy} label={`Run ${name} now`} onClick={() => run(fire, `A job of ${name} is enqueued.`)}>
				Run now
			</Button>
			{of.paused_at ? (
				<Button off={busy} label={`Resume ${name}`} onClick={() => run(() => post(`${path}/resume`), `${name} fires again.`)}>
					Resume
				</Button>
			) : (
				<Button off={busy} label={`Pause ${name}`} onClick={() => run(() => post(`${path}/pause`), `${name} is paused.`)}>
					Pause
				</Button>
			)}
		</>
	);
}

function LastFire({ of }: { of: Schedule }) {
	if (!of.last_at) return <span class="faint">never</span>;
	return (
		<>
			<Time at={of.last_at} /> {of.last_job_id && <a class="id" href={link(["job", String(of.last_job_id)])}>{of.last_job_id}</a>}{" "}
			{of.last_state && <StateMark state={of.last_state} />}
			{of.last_error && <p class="note bad clip">{of.last_error}</p>}
		</>
	);
}

function Row({ of, onDone }: { of: Schedule; onDone: () => void }) {
	return (
		<tr class={of.paused_at ? "paused" : undefined}>
			<th scope="row">
				<Name of={of.name} />
				{of.paused_at && (
					<p class="note">
						<span class="tag warn">paused</span> <Since at={of.paused_at} />
					</p>
				)}
			</th>
			<td data-label="spec">
				<code class="name">{of.spec}</code>
				<p class="note">
					{of.zone ?? "UTC"}
					{of.missed === "once" ? "" : ` · missed: ${of.missed}`}
					{of.overlap === "allow" ? "" : ` · overlap: ${of.overlap}`}
				</p>
			</td>
			<td data-label="queue">
				<a class="name" href={link(["queue", of.queue])}>
					<Name of={of.queue} />
				</a>{" "}
				{of.kind && <Name of={of.kind} class="name soft" />}
			</td>
			<td data-label="next">{of.paused_at ? <span class="faint">–</span> : <Time at={of.next_at} />}</td>
			<td data-label="last">
				<LastFire of={of} />
			</td>
			<td class="actions">
				<Actions of={of} onDone={onDone} />
			</td>
		</tr>
	);
}

function Table({ schedules, onDone }: { schedules: Schedule[]; onDone: () => void }) {
	return (
		<table class="cards">
			<thead>
				<tr>
					<th scope="col">Schedule</th>
					<th scope="col">When</th>
					<th scope="col">Queue</th>
					<th scope="col">Next</th>
					<th scope="col">Last</th>
					<th scope="col">
						<span class="hidden">Actions</span>
					</th>
				</tr>
			</thead>
			<tbody>
				{schedules.map((one) => (
					<Row key={one.name} of={one} onDone={onDone} />
				))}
			</tbody>
		</table>
	);
}

export function SchedulesPage() {
	const answer = useAnswer<{ schedules: Schedule[] }>("v1/schedules", 5);
	return (
		<Shown answer={answer} title="Schedules">
			{({ schedules }) => (
				<>
					<div class="bar">
						<h1>{plural(schedules.length, "schedule")}</h1>
					</div>
					{schedules.length ? (
						<Pages list={schedules} what="Schedules">
							{(rows) => <Table schedules={rows} onDone={answer.reload} />}
						</Pages>
					) : (
						<Empty title={`There is no schedule${readable()}.`}>
							<pre>readpast cron add reports nightly '30 2 * * *' --zone Europe/Berlin</pre>
						</Empty>
					)}
				</>
			)}
		</Shown>
	);
}
