// Group dead jobs by their error. Numbers and ids in an error differ from job to job
// ("timeout after 3021 ms"), so the comparison ignores them. An error of nothing else
// ("42") is compared as it is.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { Job } from "./types";

export interface DeadGroup {
	queue: string;
	/** the error of its newest job, without white space around it */
	error: string;
	/** text that all errors of the group contain, for the server's filter; "" if the jobs
	 * have no error text */
	common: string;
	count: number;
	newest: Job;
	oldestAt: string | null;
}

/** Matches hexadecimal ids and addresses, and numbers such as 12, 10:30 or 1.5. */
const VARIABLE = /0x[0-9a-f]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{12,}\b|[0-9]+(?:[.:_-][0-9]+)*/gi;

/** Only this many characters of an error are compared. */
const COMPARED_CHARS = 500;

/** Returns the longest part of the text in which VARIABLE matches nothing. */
function longestFixed(text: string): string {
	return text
		.split(VARIABLE)
		.map((part) => part.trim())
		.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}

/** Returns the first COMPARED_CHARS characters, without the first half of a pair. */
function begin(text: string): string {
	const isCut = /[\ud800-\udbff]/.test(text[COMPARED_CHARS - 1] ?? "");
	return text.slice(0, COMPARED_CHARS - Number(isCut));
}

export class DeadGroups {
	private readonly groups = new Map<string, DeadGroup>();
	examined = 0;

	/** Add jobs, newest first. */
	add(jobs: Job[]): void {
		for (const job of jobs) this.addOne(job);
		this.examined += jobs.length;
	}

	private addOne(job: Job): void {
		const text = job.last_error?.trim() ?? "";
		const error = begin(text);
		const key = `${job.queue}\n${longestFixed(error) ? error.replace(VARIABLE, "#") : error}`;
		const group = this.groups.get(key);
		if (!group) {
			this.groups.set(key, {
				queue: job.queue,
				error: text,
				common: error,
				count: 1,
				newest: job,
				oldestAt: job.finished_at,
			});
			return;
		}
		group.count++;
		group.oldestAt = job.finished_at;
		if (group.common !== error && !error.includes(group.common)) group.common = longestFixed(error);
	}

	/** Returns the groups, in the order of their newest jobs. */
	list(): DeadGroup[] {
		return [...this.groups.values()];
	}

	/** Returns the groups, the largest first. */
	sorted(): DeadGroup[] {
		return this.list().sort((a, b) => b.count - a.count);
	}
}
