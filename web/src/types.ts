// The answers of the server. A field is optional if some answers do not have it.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

/** The states, in the order in which a job passes through them. */
export const STATES = [
	"scheduled",
	"blocked",
	"ready",
	"running",
	"done",
	"dead",
	"cancelled",
] as const;
export type State = (typeof STATES)[number];

export interface Stats {
	queue: string;
	paused: boolean;
	pause_reason: string | null;
	scheduled: number;
	scheduled_at_least?: boolean;
	blocked: number;
	blocked_at_least?: boolean;
	ready: number;
	ready_at_least?: boolean;
	running: number;
	running_at_least?: boolean;
	done: number;
	dead: number;
	cancelled: number;
	oldest_ready_ms: number | null;
	longest_running_ms: number | null;
	workers: number;
	done_per_s: number;
	failed_per_s: number;
}

export interface Queue {
	queue: string;
	paused_at: string | null;
	pause_reason: string | null;
	max_attempts: number;
	lease_ms: number;
	backoff_ms: number;
	backoff_max_ms: number;
	priority: number;
	keep_done_ms: number;
	keep_dead_ms: number;
	max_payload: number;
	timeout_ms: number | null;
	dead_to: string | null;
	limit: number | null;
	group_limit: number | null;
	group_on_failure: string;
	rate: string | null;
	held_until: string | null;
}

export interface Failure {
	attempt: number;
	at: string;
	worker: string | null;
	text: string | null;
	host?: string | null;
	seen_at?: string | null;
}

export interface Job {
	id: number;
	queue: string;
	state: State;
	priority: number;
	attempt: number;
	max_attempts: number;
	worker: string | null;
	run_at: string | null;
	created_at: string;
	claimed_at: string | null;
	lease_until: string | null;
	finished_at: string | null;
	unique_key: string | null;
	kind: string | null;
	headers: Record<string, unknown> | string | null;
	payload?: string;
	payload_base64?: string;
	/** bytes of the whole payload */
	payload_size: number;
	/** true: `payload` is only its beginning */
	payload_cut?: boolean;
	last_error: string | null;
	keep_ms: number | null;
	timeout_ms: number | null;
	expire_at: string | null;
	backoff: number[] | null;
	unique_for_ms: number | null;
	group_key: string | null;
	progress: string | null;
	result?: string | null;
	result_base64?: string;
	failures?: Failure[];
}

export interface JobPage {
	jobs: Job[];
	next: string | null;
	partial?: boolean;
}

export interface Why {
	id: number;
	queue: string;
	state: State;
	reason: string;
	text: string;
	until: string | null;
}

export interface Group {
	group: string;
	blocked: number;
	blocked_at_least?: boolean;
	ready: number;
	running: number;
	limit: number | null;
	held_until: string | null;
}

export interface Worker {
	id: number;
	name: string;
	host: string | null;
	pid: number | null;
	queues: string[];
	started_at: string | null;
	seen_at: string | null;
	silent_ms: number;
	/** The numbers are null if the worker also serves a queue that the token may not read. */
	running: number | null;
	running_at_least?: boolean;
	done: number | null;
	failed: number | null;
	dead: number | null;
	released: number | null;
}

export interface Schedule {
	name: string;
	queue: string;
	spec: string;
	zone: string | null;
	kind: string | null;
	next_at: string | null;
	last_at: string | null;
	last_state: State | null;
	last_error: string | null;
	last_job_id: number | null;
	paused_at: string | null;
	created_at: string | null;
	payload?: string;
	payload_base64?: string;
	missed: string;
	overlap: string;
}

export interface Finding {
	check: string;
	level?: "danger" | "trouble" | "warning";
	finding?: string;
	fix?: string;
	about?: Record<string, unknown>;
	not_done?: string;
}

/** The filters of `readpast list`. */
export interface Filter {
	state?: string;
	kind?: string;
	key?: string;
	group?: string;
	error?: string;
	older?: string;
}
