// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useState } from "preact/hooks";
import { post, segment } from "../api";
import { connection } from "../live";
import { named } from "../name";
import { mayChange } from "../session";
import { act } from "../toast";
import type { Queue, Stats } from "../types";
import { Button } from "./button";
import { Buttons, Dialog, useAction } from "./dialog";
import { Field, readChanges } from "./field";

interface Pause {
	paused: boolean;
	reason: string | null;
}

/** Returns whether a queue is paused, and why. If no live numbers arrive, its settings say
 * so, because a page reads them again after it has paused or resumed the queue. */
export function pauseOf(numbers: Stats | undefined, settings: Queue | null | undefined): Pause {
	if (numbers && (connection.value === "live" || !settings))
		return { paused: numbers.paused, reason: numbers.pause_reason };
	return { paused: Boolean(settings?.paused_at), reason: settings?.pause_reason ?? null };
}

function PauseDialog({ queue, onClose, onDone }: { queue: string; onClose: () => void; onDone: () => void }) {
	const { busy, failure, run } = useAction(onClose);

	async function pause(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const { reason } = readChanges(event.currentTarget as HTMLFormElement);
		const body = reason ? { reason } : {};
		if (await run(() => post(`v1/queues/${segment(queue)}/pause`, body), `Queue ${named(queue)} is paused.`)) onDone();
	}

	return (
		<Dialog title={`Pause queue ${named(queue)}`} onClose={onClose}>
			<form onSubmit={pause}>
				<p>Workers start no further jobs of it. Running jobs end normally, and jobs can still be enqueued.</p>
				<Field label="Reason" name="reason" hint="Everybody who looks at the queue sees it." focus />
				<Buttons label="Pause" busy={busy} failure={failure} onClose={onClose} />
			</form>
		</Dialog>
	);
}

/** A button that resumes a paused queue, or asks for a reason and pauses the queue. */
export function PauseButton({ queue, paused, onDone }: { queue: string; paused: boolean; onDone: () => void }) {
	const [asking, setAsking] = useState(false);
	const [busy, setBusy] = useState(false);
	if (!mayChange(queue)) return null;

	async function resume(): Promise<void> {
		setBusy(true);
		if (await act(() => post(`v1/queues/${segment(queue)}/resume`), `Queue ${named(queue)} runs again.`)) onDone();
		setBusy(false);
	}

	const verb = paused ? "Resume" : "Pause";
	return (
		<>
			<Button off={busy} label={`${verb} queue ${named(queue)}`} onClick={paused ? resume : () => setAsking(true)}>
				{verb}
			</Button>
			{asking && <PauseDialog queue={queue} onClose={() => setAsking(false)} onDone={onDone} />}
		</>
	);
}
