// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { count } from "../format";
import { Name } from "../name";
import { link } from "../route";
import type { Group } from "../types";
import { holdEnd } from "./limits";
import { Time } from "./time";

export function GroupTable({ queue, groups }: { queue: string; groups: Group[] }) {
	return (
		<table class="cards">
			<thead>
				<tr>
					<th scope="col">Group</th>
					<th scope="col" class="n">Blocked</th>
					<th scope="col" class="n">Ready</th>
					<th scope="col" class="n">Running</th>
					<th scope="col" class="n">Limit</th>
					<th scope="col">Hold ends</th>
				</tr>
			</thead>
			<tbody>
				{groups.map((one) => (
					<tr key={one.group}>
						<th scope="row">
							<a class="open" href={link(["queue", queue], { group: one.group })}>
								<Name of={one.group} />
							</a>
						</th>
						<td class="n" data-label="blocked">
							{count(one.blocked, one.blocked_at_least)}
						</td>
						<td class="n" data-label="ready">
							{count(one.ready)}
						</td>
						<td class="n" data-label="running">
							{count(one.running)}
						</td>
						<td class="n" data-label="limit">
							{count(one.limit)}
						</td>
						<td data-label="hold ends">{holdEnd(one.held_until) ? <Time at={one.held_until} /> : "–"}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
