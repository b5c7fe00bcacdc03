// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, open, row, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();

test("the overview shows each queue with its numbers", async () => {
	const page = await open(its.browser, its.base);
	const mail = row(page, "mail");
	await mail.waitFor();
	assert.equal(await mail.locator("a.count.dead").innerText(), "6");
	assert.equal(await row(page, "thumbnails").locator("a.count.ready").innerText(), "24");
	await page.getByText("at most 2 at once").waitFor();
	await page.getByRole("columnheader", { name: "Oldest due" }).waitFor();
	assert.equal(await page.title(), "Queues · readpast");
	await closeQuietly(page);
});

test("numbers change without a reload", async () => {
	const page = await open(its.browser, its.base);
	const ready = row(page, "thumbnails").locator("a.count.ready");
	await page.getByText("Live", { exact: true }).waitFor();
	assert.equal(await ready.innerText(), "24");
	its.db.enqueue("thumbnails", "one more");
	await until(async () => (await ready.innerText()) === "25", "25 ready jobs");
	await page.locator(".chart canvas").waitFor();
	assert.ok(await row(page, "mail").locator("svg.spark path.done").getAttribute("d"));
	await closeQuietly(page);
});

test("a queue is paused with a reason, and resumed", async () => {
	const page = await open(its.browser, its.base);
	await page.getByRole("button", { name: "Pause queue mail" }).click();
	await page.getByLabel("Reason").fill("<b>maintenance</b>");
	await page.getByRole("button", { name: "Pause", exact: true }).click();
	await said(page, "Queue mail is paused.");
	await row(page, "mail").getByText("<b>maintenance</b>").waitFor();
	const [paused] = its.db.json(["stats", "mail"]);
	assert.equal(paused.pause_reason, "<b>maintenance</b>");
	await page.getByRole("button", { name: "Resume queue mail" }).click();
	await said(page, "Queue mail runs again.");
	await page.getByRole("button", { name: "Pause queue mail" }).waitFor();
	assert.equal(its.db.json(["stats", "mail"])[0].paused, false);
	await closeQuietly(page);
});

test("a queue is paused and resumed while no live numbers arrive", async () => {
	const page = await open(its.browser, its.base);
	await page.getByText("Live", { exact: true }).waitFor();
	await page.route(/v1\/events/, () => new Promise(() => undefined));
	// The page connects again when it is shown.
	await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
	for (const round of ["with old numbers", "with no numbers"]) {
		await page.getByText("Connecting…").waitFor();
		await page.getByRole("button", { name: "Pause queue mail" }).click();
		await page.getByLabel("Reason").fill(round);
		await page.getByRole("button", { name: "Pause", exact: true }).click();
		await row(page, "mail").getByText(round).waitFor();
		await page.getByRole("button", { name: "Resume queue mail" }).click();
		await page.getByRole("button", { name: "Pause queue mail" }).waitFor();
		await page.reload();
	}
	await closeQuietly(page);
});

test("the field above the table filters queues by name", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").waitFor();
	await page.getByPlaceholder("Name contains").fill("THUMB");
	await until(async () => (await page.locator("main tbody tr").count()) === 1, "one row");
	await page.getByPlaceholder("Name contains").fill("nothing");
	await page.getByText("No queue's name contains “nothing”.").waitFor();
	await closeQuietly(page);
});

test("a number leads to the jobs that it counts", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").locator("a.count.dead").click();
	await row(page, "421 try again").first().waitFor();
	assert.equal(await page.locator("main tbody tr").count(), 6);
	await closeQuietly(page);
});

test("many queues have pages, and the filter finds queues of all pages", async () => {
	for (let i = 100; i < 320; i++) await fetch(`${its.base}v1/queues/many-${i}`, { method: "PUT" });
	const page = await open(its.browser, its.base);
	await page.getByText("Queues 1 to 200 of 224").waitFor();
	await page.getByRole("button", { name: "More" }).click();
	await page.getByText("Queues 201 to 224 of 224").waitFor();
	await visit(page, "#/queues?from=1.5");
	await page.getByText("Queues 2 to 201 of 224").waitFor();
	await page.goBack();
	await row(page, "many-319").waitFor();
	await row(page, "many-319").getByRole("link", { name: "many-319" }).click();
	await page.getByRole("heading", { name: "many-319" }).waitFor();
	await page.goBack();
	await row(page, "many-319").waitFor();
	await page.getByPlaceholder("Name contains").fill("many-100");
	await row(page, "many-100").waitFor();
	await row(page, "many-100").getByRole("link", { name: "many-100" }).click();
	await page.getByRole("heading", { name: "many-100" }).waitFor();
	await page.goBack();
	await row(page, "many-100").waitFor();
	assert.equal(await page.locator("main tbody tr").count(), 1);
	assert.equal(await page.getByPlaceholder("Name contains").inputValue(), "many-100");
	await page.getByPlaceholder("Name contains").fill("");
	await page.getByText("Queues 1 to 200 of 224").waitFor();
	await closeQuietly(page);
});
