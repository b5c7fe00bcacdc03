// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { State } from "../types";

/** The state of a job: a coloured mark, and always the word beside it. */
export function StateMark({ state }: { state: State }) {
	return <span class={`state ${state}`}>{state}</span>;
}
