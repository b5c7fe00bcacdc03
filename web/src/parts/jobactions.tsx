// The actions on one job: retry, change and cancel.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useState } from "preact/hooks";
import { post } from "../api";
import { mayChange } from "../session";
import { act } from "../toast";
import type { Job, State } from "../types";
import { Button } from "./button";
import { Buttons, Dialog, useAction } from "./dialog";
import { Field, numberOf, readChanges } from "./field";

const CAN_CANCEL: State[] = ["scheduled", "blocked", "ready", "running"];
const CAN_CHANGE: State[] = ["scheduled", "blocked", "ready"];
const CAN_RETRY: State[] = ["dead", "cancelled"];

interface Asked {
	job: Job;
	onClose: () => void;
	/** called after the action, even if it failed, because the job may have changed */
	onDone: () => void;
}

function CancelDialog({ job, onClose, onDone }: Asked) {
	const { busy, failure, run } = useAction(onClose);

	async function submit(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		await run(() => post(`v1/jobs/${job.id}/cancel`), `Job ${job.id} is cancelled.`);
		onDone();
	}

	return (
		<Dialog title={`Cancel job ${job.id}`} onClose={onClose}>
			<form onSubmit={submit}>
				<p>
					{job.state === "running"
						? "Its worker is told so; a handler that is running may still end its work."
						: "It will not run, unless it is retried while it is kept."}
				</p>
				<Buttons label="Cancel the job" danger busy={busy} failure={failure} onClose={onClose} />
			</form>
		</Dialog>
	);
}

function ChangeDialog({ job, onClose, onDone }: Asked) {
	const { busy, failure, run } = useAction(onClose);

	async function submit(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const changes = changesOf(readChanges(event.currentTarget as HTMLFormElement));
		if (!Object.keys(changes).length) return onClose();
		await run(() => post(`v1/jobs/${job.id}/change`, changes), `Job ${job.id} is changed.`);
		onDone();
	}

	return (
		<Dialog title={`Change job ${job.id}`} onClose={onClose}>
			<form onSubmit={submit}>
				<Field label="Delay" name="delay" placeholder="unchanged" hint="0s: run it now; 90s, 2h: after this time" focus />
				<Field label="Priority" name="priority" value={String(job.priority)} hint="0 to 255, lower runs first" />
				<Field label="Attempts" name="max_attempts" value={String(job.max_attempts)} hint="how many before it is dead" />
				<Field label="Queue" name="queue" value={job.queue} hint="a queue that exists" exact />
				<Buttons label="Change" busy={busy} failure={failure} onClose={onClose} />
			</form>
		</Dialog>
	);
}

export function JobActions({ job, onDone }: { job: Job; onDone: () => void }) {
	const [open, setOpen] = useState<"cancel" | "change" | null>(null);
	const [busy, setBusy] = useState(false);
	if (!mayChange(job.queue)) return null;

	async function retry(): Promise<void> {
		setBusy(true);
		await act(() => post(`v1/jobs/${job.id}/retry`), `Job ${job.id} is retried.`);
		setBusy(false);
		onDone();
	}

	const asked = { job, onClose: () => setOpen(null), onDone };
	return (
		<div class="actions">
			{CAN_RETRY.includes(job.state) && (
				<Button off={busy} onClick={retry}>
					Retry
				</Button>
			)}
			{CAN_CHANGE.includes(job.state) && (
				<Button off={busy} onClick={() => setOpen("change")}>
					Change…
				</Button>
			)}
			{CAN_CANCEL.includes(job.state) && (
				<Button off={busy} onClick={() => setOpen("cancel")}>
					Cancel…
				</Button>
			)}
			{open === "cancel" && <CancelDialog {...asked} />}
			{open === "change" && <ChangeDialog {...asked} />}
		</div>
	);
}

/** Returns the changes as the server takes them. */
function changesOf(values: Record<string, string>): Record<string, unknown> {
	const changes: Record<string, unknown> = { ...values };
	for (const name of ["priority", "max_attempts"]) {
		const text = values[name];
		if (text) changes[name] = numberOf(text);
	}
	return changes;
}
