// Limits, holds and groups.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { test } from "node:test";
import { closeQuietly, open, row, visit } from "./browser.js";
import { suite } from "./suite.js";

const its = suite();
const SOON = new Date(Date.now() + 600000).toISOString();

/** Change the JSON of an answer on its way to the page. */
async function amend(page, path, change) {
	await page.route(path, async (route) => {
		const answer = await route.fetch();
		const body = answer.ok() ? await answer.json() : {};
		change(body);
		await route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(body) });
	});
}

const LIMITS = { limit: 3, group_limit: 1, group_on_failure: "block", rate: "100/1m", held_until: SOON };

test("a queue's limits and its hold are beside its name", async () => {
	const page = await open(its.browser, its.base, "#/workers");
	await amend(page, /v1\/queues$/, ({ queues }) => Object.assign(queues.find((one) => one.queue === "mail"), LIMITS));
	await visit(page, "#/queues");
	const mail = row(page, "mail");
	await mail.getByText("held", { exact: true }).waitFor();
	await mail.getByText(/held for another \d+m \d+s · at most 3 at once · 1 per group · rate 100\/1m/).waitFor();
	await page.context().close();
});

test("groups are listed with what blocks them", async () => {
	const page = await open(its.browser, its.base, "#/workers");
	await amend(page, /v1\/queues\/mail$/, (queue) => Object.assign(queue, LIMITS));
	await amend(page, /v1\/groups/, (body) => {
		body.groups = [
			{ group: "customer 7", blocked: 41, ready: 0, running: 1, limit: 1, held_until: null },
			{ group: "customer 9", blocked: 10000, blocked_at_least: true, ready: 0, running: 0, limit: 1, held_until: SOON },
		];
	});
	await visit(page, "#/queue/mail?view=groups");
	await row(page, "customer 7").getByText("41").waitFor();
	await row(page, "customer 9").getByText("10k+").waitFor();
	await page.getByRole("columnheader", { name: "Hold ends" }).waitFor();
	await row(page, "customer 9").getByText(/^in 9m/).waitFor();
	await visit(page, "#/queue/mail?view=settings");
	await row(page, "group-on-failure").getByText("block", { exact: true }).waitFor();
	await page.context().close();
});

test("after the last group the page says that there are no further ones", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?view=groups&after=zzz");
	await page.getByText("There are no further groups.").waitFor();
	await visit(page, "#/queue/mail?view=groups");
	await page.getByText("This queue has no groups to show.").waitFor();
	await closeQuietly(page);
});
