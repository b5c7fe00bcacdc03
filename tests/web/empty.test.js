// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { test } from "node:test";
import { closeQuietly, open, row, visit } from "./browser.js";
import { suite } from "./suite.js";

const its = suite(() => undefined);

test("each page says what to do if there is nothing yet", async () => {
	const page = await open(its.browser, its.base);
	await page.getByRole("heading", { name: "This database has no queue yet.", level: 1 }).waitFor();
	await visit(page, "#/dead");
	await page.getByText("No job is dead.").waitFor();
	await visit(page, "#/workers");
	await page.getByText("No worker runs.").waitFor();
	await visit(page, "#/schedules");
	await page.getByText("There is no schedule.").waitFor();
	await visit(page, "#/doctor");
	await page.getByText("Doctor found nothing wrong.").waitFor();
	await visit(page, "#/queues");
	its.db.enqueue("first", "hello");
	await row(page, "first").waitFor();
	await closeQuietly(page);
});
