// The filters of `readpast list`. The same filter is written into the page's
// address, a query of the API and the body of a bulk action.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { named } from "./name";
import { encodeQuery } from "./route";
import type { Filter } from "./types";

export const FILTERS: { name: Exclude<keyof Filter, "state">; label: string; placeholder?: string; exact?: boolean }[] = [
	{ name: "kind", label: "Kind", exact: true },
	{ name: "key", label: "Unique key", exact: true },
	{ name: "group", label: "Group", exact: true },
	{ name: "error", label: "Error contains", exact: true },
	{ name: "older", label: "Older than", placeholder: "1h" },
];

export function filterOf(query: Record<string, string>): Filter {
	const filter: Filter = {};
	for (const name of ["state", ...FILTERS.map((one) => one.name)] as (keyof Filter)[])
		if (query[name]) filter[name] = query[name];
	return filter;
}

export function jobsPath(queue: string | undefined, filter: Filter, limit: number, cursor?: string): string {
	return `v1/jobs?${encodeQuery({ queue, ...filter, cursor, limit: String(limit) })}`;
}

/** Say in words which jobs of a queue match. */
export function describe(filter: Filter): string {
	const parts: string[] = [];
	if (filter.kind) parts.push(`of kind ${named(filter.kind)}`);
	if (filter.key) parts.push(`with the unique key ${named(filter.key)}`);
	if (filter.group) parts.push(`of group ${named(filter.group)}`);
	if (filter.error) parts.push(`whose error contains “${named(filter.error)}”`);
	if (filter.older) parts.push(`older than ${filter.older}`);
	return parts.join(", ");
}
