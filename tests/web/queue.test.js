// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, open, row, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();
const rows = (page) => page.locator("main tbody tr");

test("the tabs list the jobs of each state", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail");
	await page.getByText("this queue has no unfinished job").waitFor();
	for (const [state, count] of [
		["dead", 6],
		["done", 24],
	]) {
		await page.getByRole("link", { name: `${state} ${count}` }).click();
		await until(async () => (await rows(page).count()) === count, `${count} rows`);
	}
	await page.getByRole("link", { name: "scheduled 0" }).click();
	await page.getByText("No job is scheduled.").waitFor();
	await closeQuietly(page);
});

test("filters find jobs by kind, key, error and age", async () => {
	const page = await open(its.browser, its.base, "#/queue/imports?state=dead");
	await until(async () => (await rows(page).count()) === 12, "12 rows");
	await page.getByLabel("Error contains").fill("no space");
	await page.getByRole("button", { name: "Filter" }).click();
	await until(async () => (await rows(page).count()) === 3, "3 rows");
	assert.match(page.url(), /error=no\+space/);
	await page.getByLabel("Kind").fill("xml");
	await page.keyboard.press("Enter");
	await page.getByText("No job matches this filter.").waitFor();
	await page.getByRole("link", { name: "Show all" }).click();
	await until(async () => (await rows(page).count()) === 12, "12 rows again");
	await page.getByLabel("Older than").fill("1d");
	await page.keyboard.press("Enter");
	await page.getByText("No job matches this filter.").waitFor();
	await visit(page, "#/queue/reports?key=week-48");
	await row(page, "week-48").waitFor();
	await page.goBack();
	await page.getByText("No job matches this filter.").waitFor();
	await closeQuietly(page);
});

test("the form keeps the filters that it cannot show, and spaces around a name", async () => {
	const error = "Traceback:\n  file x\nValueError: bad";
	its.db.enqueue("trace", "a", "--kind", " k ", "--group", " g ", "--max-attempts", "1");
	const { claim } = its.db.json(["claim", "trace"])[0];
	its.db.run(["fail", claim, "--error", error]);
	const page = await open(its.browser, its.base, "#/dead");
	await row(page, "ValueError").locator("a.open").click();
	await rows(page).first().locator("a.id").waitFor();
	await page.getByLabel("Kind").fill(" k ");
	await page.keyboard.press("Enter");
	await until(() => page.url().includes("kind=+k+"), "the filter with a kind");
	await rows(page).first().locator("a.id").waitFor();
	await visit(page, "#/queue/trace?state=dead&group=%20g%20");
	await rows(page).first().locator("a.id").waitFor();
	await page.getByLabel("Older than").fill(" 0s ");
	await page.keyboard.press("Enter");
	await until(() => page.url().includes("older=0s"), "the filter with an age");
	assert.match(page.url(), /group=\+g\+/);
	await rows(page).first().locator("a.id").waitFor();
	await closeQuietly(page);
	its.db.run(["purge", "trace", "--state", "all", "--yes"]);
});

test("a wrong filter is an error, and not an empty list", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?older=yesterday");
	await page.getByRole("alert").getByText("This could not be read.").waitFor();
	assert.equal(await page.getByText("No job matches this filter.").count(), 0);
	await page.context().close();
});

test("long lists have pages, and the browser goes back", async () => {
	const lines = Array.from({ length: 250 }, (_, i) => `payload ${i}`).join("\n");
	its.db.run(["enqueue", "long", "--quiet"], lines);
	const page = await open(its.browser, its.base, "#/queue/long?state=ready");
	const seen = new Set();
	for (const expected of [100, 100, 50]) {
		await until(async () => {
			const id = await rows(page).first().locator("a.open").innerText().catch(() => "");
			return id && !seen.has(id);
		}, "the next page");
		const ids = await rows(page).locator("a.open").allInnerTexts();
		assert.equal(ids.length, expected);
		for (const id of ids) seen.add(id);
		if (expected === 100) await page.getByRole("link", { name: "More jobs" }).click();
	}
	assert.equal(seen.size, 250);
	assert.equal(await page.getByRole("link", { name: "More jobs" }).count(), 0);
	await page.getByRole("link", { name: "First jobs" }).click();
	await page.getByText("payload 0", { exact: true }).waitFor();
	await closeQuietly(page);
});

test("Back leads to the place in a list where it was left, and another page begins at its top", async () => {
	its.db.run(["enqueue", "tall", "--quiet"], "x\n".repeat(250));
	const page = await open(its.browser, its.base, "#/queue/tall?state=ready");
	const job = rows(page).nth(90).locator("a.open");
	const place = () => page.evaluate(() => scrollY);
	await job.scrollIntoViewIfNeeded();
	const list = await place();
	assert.ok(list > 1000, String(list));
	await job.click();
	await page.getByText("What happened").waitFor();
	assert.equal(await place(), 0);
	await page.goBack();
	await until(async () => (await place()) === list, "the place in the list");
	const more = page.getByRole("link", { name: "More jobs" });
	await more.scrollIntoViewIfNeeded();
	const end = await place();
	await more.click();
	await until(async () => (await place()) < end, "the next jobs");
	await rows(page).nth(99).waitFor();
	await page.goBack();
	await page.goForward();
	await page.goBack();
	await until(async () => (await place()) === end, "the end of the list");
	await closeQuietly(page);
});

test("a change of many jobs says first how many, and shows three", async () => {
	const page = await open(its.browser, its.base, "#/queue/imports?state=dead&error=no+space");
	await page.getByRole("button", { name: "Retry these…" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByText("3 jobs match now.").waitFor();
	assert.equal(await dialog.locator(".examples li").count(), 3);
	assert.equal(its.db.json(["stats", "imports"])[0].dead, 12);
	await dialog.getByRole("button", { name: "Retry 3 jobs" }).click();
	await said(page, "3 jobs of imports are retried.");
	await page.getByText("No job matches this filter.").waitFor();
	const [after] = its.db.json(["stats", "imports"]);
	assert.deepEqual([after.dead, after.ready], [9, 4]);
	await closeQuietly(page);
});

test("a retry of many jobs says which were left because of their unique key", async () => {
	for (const key of ["free", "held"]) its.db.enqueue("keys", key, "--unique", key, "--max-attempts", "1");
	its.db.fail("keys", "no route");
	its.db.enqueue("keys", "live", "--unique", "held");
	const page = await open(its.browser, its.base, "#/queue/keys?state=dead");
	await page.getByRole("button", { name: "Retry these…" }).click();
	await page.getByRole("button", { name: "Retry 2 jobs" }).click();
	await said(page, "1 job of keys is retried.");
	await said(page, "1 job of keys is not retried: a live job has the same unique key.");
	const [after] = its.db.json(["stats", "keys"]);
	assert.deepEqual([after.dead, after.ready], [1, 2]);
	await closeQuietly(page);
	its.db.run(["purge", "keys", "--state", "all", "--yes"]);
});

test("a bulk change that finds no job any more says that none was changed", async () => {
	its.db.enqueue("late", "x", "--max-attempts", "1");
	its.db.fail("late", "no route");
	const page = await open(its.browser, its.base, "#/queue/late?state=dead");
	await page.getByRole("button", { name: "Retry these…" }).click();
	const retry = page.getByRole("button", { name: "Retry 1 job" });
	await retry.waitFor();
	its.db.run(["purge", "late", "--state", "dead", "--yes"]);
	await retry.click();
	await said(page, "No job of late was changed.");
	await closeQuietly(page);
});

test("jobs are cancelled and deleted in bulk", async () => {
	const page = await open(its.browser, its.base, "#/queue/thumbnails?state=ready");
	await page.getByRole("button", { name: "Cancel these…" }).click();
	await page.getByRole("button", { name: "Cancel 24 jobs" }).click();
	await said(page, "24 jobs of thumbnails are cancelled.");
	await page.getByRole("link", { name: "cancelled 24" }).click();
	await page.getByRole("button", { name: "Delete these…" }).click();
	await page.getByRole("dialog").getByText("24 jobs match now.").waitFor();
	await page.getByRole("button", { name: "Delete 24 jobs" }).click();
	await said(page, "24 jobs of thumbnails are deleted.");
	const [after] = its.db.json(["stats", "thumbnails"]);
	assert.deepEqual([after.ready, after.cancelled], [0, 0]);
	await closeQuietly(page);
});

test("a bulk change of very many jobs says that not all were counted", async () => {
	its.db.run(["enqueue", "crowd", "--quiet"], "x\n".repeat(10050));
	const page = await open(its.browser, its.base, "#/queue/crowd?state=ready");
	await page.locator(".chart .key.ready", { hasText: "ready 10k+" }).waitFor();
	await page.getByRole("button", { name: "Cancel these…" }).click();
	await page.getByRole("dialog").getByText("At least 10,0").waitFor();
	await page.getByRole("button", { name: "Cancel all jobs that match" }).click();
	await said(page, "10,050 jobs of crowd are cancelled.");
	assert.equal(its.db.json(["stats", "crowd"])[0].cancelled, 10050);
	await closeQuietly(page);
});

test("a bulk change can be left with Escape", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?state=dead");
	await page.getByRole("button", { name: "Delete these…" }).click();
	await page.getByRole("dialog").getByText("6 jobs match now.").waitFor();
	await page.keyboard.press("Escape");
	await until(async () => (await page.getByRole("dialog").count()) === 0, "no dialog");
	assert.equal(its.db.json(["stats", "mail"])[0].dead, 6);
	await closeQuietly(page);
});

test("settings are shown and changed", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?view=settings");
	await row(page, "keep-done").getByText("7d").waitFor();
	await page.getByRole("button", { name: "Change settings…" }).click();
	await page.getByLabel("max-attempts").fill("5");
	await page.getByLabel("keep-done").fill("2d");
	await page.getByLabel("limit", { exact: true }).fill("7");
	await page.getByRole("button", { name: "Change", exact: true }).click();
	await said(page, "The settings of mail are changed.");
	await row(page, "keep-done").getByText("2d").waitFor();
	const mail = its.db.json(["queue", "list"]).find((one) => one.queue === "mail");
	assert.deepEqual([mail.max_attempts, mail.keep_done_ms, mail.limit], [5, 172800000, 7]);
	assert.equal(mail.backoff_ms, 1);
	await closeQuietly(page);
});

test("a change of one setting keeps a dead-to whose name ends with a space", async () => {
	its.db.run(["queue", "set", "trail "]);
	its.db.run(["queue", "set", "source", "--dead-to", "trail "]);
	const page = await open(its.browser, its.base, "#/queue/source?view=settings");
	await page.getByRole("button", { name: "Change settings…" }).click();
	await page.getByLabel("max-attempts").fill("5");
	await page.keyboard.press("Enter");
	await said(page, "The settings of source are changed.");
	const source = its.db.json(["queue", "list"]).find((one) => one.queue === "source");
	assert.deepEqual([source.max_attempts, source.dead_to], [5, "trail "]);
	await closeQuietly(page);
});

test("a setting that the server refuses stays in the form, with the reason", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?view=settings");
	await page.getByRole("button", { name: "Change settings…" }).click();
	await page.getByLabel("lease").fill("soon");
	await page.getByRole("button", { name: "Change", exact: true }).click();
	// While the dialog is open, nothing outside it is read out or can be clicked.
	await page.locator("dialog").getByRole("alert").waitFor();
	assert.equal(await page.getByLabel("lease").inputValue(), "soon");
	await page.context().close();
});

test("a limit with more digits than a number can have is refused, and does not remove the limit", async () => {
	its.db.run(["queue", "set", "wide", "--limit", "3"]);
	const page = await open(its.browser, its.base, "#/queue/wide?view=settings");
	for (const digits of [16, 309]) {
		await page.getByRole("button", { name: "Change settings…" }).click();
		await page.getByLabel("limit", { exact: true }).fill("9".repeat(digits));
		await page.keyboard.press("Enter");
		await page.getByRole("dialog").getByRole("alert").waitFor();
		await page.keyboard.press("Escape");
	}
	assert.equal(its.db.json(["queue", "list"]).find((one) => one.queue === "wide").limit, 3);
	await page.context().close();
});

test("only a setting that can be removed takes none, or no text", async () => {
	const queue = () => its.db.json(["queue", "list"]).find((one) => one.queue === "bare");
	its.db.run(["queue", "set", "bare", "--limit", "3", "--rate", "5/1m", "--timeout", "9s"]);
	const page = await open(its.browser, its.base, "#/queue/bare?view=settings");
	const change = async (name, text) => {
		await page.getByRole("button", { name: "Change settings…" }).click();
		await page.getByLabel(name, { exact: true }).fill(text);
		await page.keyboard.press("Enter");
	};
	await change("limit", "none");
	await row(page, "at once, or none").first().getByText("none", { exact: true }).waitFor();
	await change("rate", "");
	await row(page, "in a span of time").getByText("none", { exact: true }).waitFor();
	assert.deepEqual([queue().limit, queue().rate], [null, null]);
	for (const [name, text] of [
		["timeout", "none"],
		["lease", ""],
		["max-attempts", ""],
	]) {
		await change(name, text);
		await page.getByRole("dialog").getByRole("alert").waitFor();
		await page.keyboard.press("Escape");
	}
	assert.equal(queue().timeout_ms, 9000);
	await page.context().close();
});

test("a dialog changes the jobs that it has counted, even if Back changes the filter", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?state=done");
	await page.getByRole("link", { name: /^dead/ }).click();
	await page.getByRole("button", { name: "Delete these…" }).click();
	const submit = page.locator("dialog button[type=submit]");
	await until(async () => /Delete \d+ job/.test(await submit.innerText()), "the number of dead jobs");
	await page.goBack();
	await until(async () => (await rows(page).count()) === 24, "the done jobs");
	await submit.click();
	await said(page, /of mail (is|are) deleted/);
	await until(async () => (await rows(page).count()) === 24, "the done jobs are still there");
	assert.equal(its.db.json(["stats", "mail"])[0].dead, 0);
	await closeQuietly(page);
});

test("a queue that does not exist is named", async () => {
	const page = await open(its.browser, its.base, "#/queue/a%2Fb%25");
	await page.getByRole("heading", { name: "There is no queue a/b%.", level: 1 }).waitFor();
	await page.context().close();
});

test("the open page of a queue follows its drop and its return", async () => {
	its.db.enqueue("brief", "x");
	const page = await open(its.browser, its.base, "#/queue/brief");
	await page.getByText("Live", { exact: true }).waitFor();
	await page.locator(".facts").waitFor();
	const soon = { timeout: 5000 }; // the page asks for the settings every 10 s
	its.db.run(["queue", "drop", "brief", "--yes"]);
	await page.getByRole("heading", { name: "There is no queue brief.", level: 1 }).waitFor(soon);
	its.db.enqueue("brief", "y");
	await row(page, "y").waitFor(soon);
	await page.context().close();
});

test("names with every character work", async () => {
	const name = "a/b:pause %2F?#&ü'\"<i>";
	const id = its.db.enqueue(name, "here");
	const page = await open(its.browser, its.base);
	await page.getByRole("link", { name, exact: true }).click();
	await row(page, "here").getByRole("link", { name: String(id) }).click();
	await page.getByRole("link", { name, exact: true }).first().click();
	await page.getByRole("button", { name: "Pause" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
	await said(page, "is paused.");
	assert.equal(its.db.json(["stats", name])[0].paused, true);
	await closeQuietly(page);
});
