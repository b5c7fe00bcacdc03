// The settings of a queue, by the names of `readpast queue set`.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useState } from "preact/hooks";
import { change, segment } from "../api";
import { bytes, duration } from "../format";
import { named } from "../name";
import { mayChange } from "../session";
import type { Queue } from "../types";
import { Buttons, Dialog, useAction } from "./dialog";
import { Field, numberOf, readChanges } from "./field";

type Kind = "count" | "span" | "size" | "text" | "name";

interface Setting {
	/** the name that PATCH takes */
	name: string;
	/** the name in the server's answer */
	field: keyof Queue;
	kind: Kind;
	meaning: string;
	/** true: null removes it; for other settings, null means "unchanged" */
	removable?: boolean;
}

const SETTINGS: Setting[] = [
	{ name: "max_attempts", field: "max_attempts", kind: "count", meaning: "attempts before a job is dead" },
	{ name: "lease", field: "lease_ms", kind: "span", meaning: "how long a claim holds" },
	{ name: "backoff", field: "backoff_ms", kind: "span", meaning: "delay before the second attempt; it doubles each time" },
	{ name: "backoff_max", field: "backoff_max_ms", kind: "span", meaning: "the longest backoff" },
	{ name: "priority", field: "priority", kind: "count", meaning: "priority of jobs that are enqueued without one" },
	{ name: "timeout", field: "timeout_ms", kind: "span", meaning: "a handler may run for at most this long; 0s: no limit" },
	{ name: "limit", field: "limit", kind: "count", meaning: "how many jobs may run at once, or none", removable: true },
	{ name: "group_limit", field: "group_limit", kind: "count", meaning: "how many jobs of one group may run at once, or none", removable: true },
	{ name: "group_on_failure", field: "group_on_failure", kind: "text", meaning: "while a failed job waits for its retry, its group waits (block) or goes on (pass)" },
	{ name: "rate", field: "rate", kind: "text", meaning: "how many jobs may start in a span of time, or none", removable: true },
	{ name: "keep_done", field: "keep_done_ms", kind: "span", meaning: "how long done jobs are kept" },
	{ name: "keep_dead", field: "keep_dead_ms", kind: "span", meaning: "how long dead and cancelled jobs are kept" },
	{ name: "max_payload", field: "max_payload", kind: "size", meaning: "the largest payload, in bytes" },
	{ name: "dead_to", field: "dead_to", kind: "name", meaning: "queue that gets a new job when a job dies, or none", removable: true },
];

/** Returns the value of a setting as the text of its field. */
function typed(of: Queue, { field, kind }: Setting): string {
	const value = of[field];
	if (kind === "span") return duration(Number(value ?? 0));
	return value === null ? "none" : String(value);
}

/** Returns the value as PATCH takes it. */
function parse(text: string, { kind, removable }: Setting): string | number | null {
	if (removable && (text === "" || text === "none")) return null;
	return kind === "count" || kind === "size" ? numberOf(text) : text;
}

function Change({ of, onClose, onDone }: { of: Queue; onClose: () => void; onDone: () => void }) {
	const { busy, failure, run } = useAction(onClose);

	async function submit(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const values = readChanges(event.currentTarget as HTMLFormElement);
		const changes: Record<string, string | number | null> = {};
		for (const one of SETTINGS) {
			const text = values[one.name];
			if (text !== undefined) changes[one.name] = parse(text, one);
		}
		if (!Object.keys(changes).length) return onClose();
		const path = `v1/queues/${segment(of.queue)}`;
		if (await run(() => change("PATCH", path, changes), `The settings of ${named(of.queue)} are changed.`)) onDone();
	}

	return (
		<Dialog title={`Settings of queue ${named(of.queue)}`} onClose={onClose}>
			<form class="grid" onSubmit={submit}>
				{SETTINGS.map((one) => (
					<Field
						key={one.name}
						label={one.name.replaceAll("_", "-")}
						name={one.name}
						value={typed(of, one)}
						hint={one.meaning}
						exact={one.kind === "name"}
					/>
				))}
				<Buttons label="Change" busy={busy} failure={failure} onClose={onClose} />
			</form>
		</Dialog>
	);
}

export function Settings({ of, onDone }: { of: Queue; onDone: () => void }) {
	const [changing, setChanging] = useState(false);
	return (
		<>
			<table class="settings">
				<tbody>
					{SETTINGS.map((one) => (
						<tr key={one.name}>
							<th scope="row">{one.name.replaceAll("_", "-")}</th>
							<td class="n">{one.kind === "size" ? bytes(Number(of[one.field])) : typed(of, one)}</td>
							<td class="soft">{one.meaning}</td>
						</tr>
					))}
				</tbody>
			</table>
			{mayChange(of.queue) && (
				<button type="button" onClick={() => setChanging(true)}>
					Change settings…
				</button>
			)}
			{changing && <Change of={of} onClose={() => setChanging(false)} onDone={onDone} />}
		</>
	);
}
