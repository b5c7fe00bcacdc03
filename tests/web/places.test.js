// The pages of workers, schedules and the doctor.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, open, row, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();

test("workers are listed with what they run", async () => {
	const page = await open(its.browser, its.base, "#/workers");
	await page.getByText("No worker runs.").waitFor();
	its.db.worker("thumbnails", 2);
	await until(() => its.db.json(["stats", "thumbnails"])[0].running === 2, "two running jobs");
	const worker = row(page, "thumbnails");
	await worker.waitFor();
	await until(async () => (await worker.locator("ul.running li").count()) === 2, "two jobs in the row");
	await worker.locator("ul.running a").first().click();
	await page.locator("h1 .state.running").waitFor();
	await page.getByText("Attempt 1 started").waitFor();
	await closeQuietly(page);
});

test("a schedule is run now, paused and resumed", async () => {
	const page = await open(its.browser, its.base, "#/schedules");
	const nightly = row(page, "nightly");
	await nightly.getByText("Europe/Berlin").waitFor();
	await row(page, "yearly").getByText("paused").waitFor();
	assert.match(await nightly.locator("time").first().innerText(), /^in \d/);

	await page.getByRole("button", { name: "Run nightly now" }).click();
	await said(page, "A job of nightly is enqueued.");
	assert.equal(its.db.json(["list", "reports", "--state", "ready"]).length, 1);

	await page.getByRole("button", { name: "Pause nightly" }).click();
	await said(page, "nightly is paused.");
	await page.getByRole("button", { name: "Resume nightly" }).click();
	await said(page, "nightly fires again.");
	const after = its.db.json(["cron", "list"]).find((one) => one.name === "nightly");
	assert.equal(after.paused_at, null);
	await closeQuietly(page);
});

test("a schedule that enqueues no job, because its last job is live, says so", async () => {
	its.db.run(["cron", "add", "solo", "alone", "@yearly", "--overlap", "skip"]);
	const id = Number(its.db.run(["cron", "run", "alone"]));
	const page = await open(its.browser, its.base, "#/schedules");
	await page.getByRole("button", { name: "Run alone now" }).click();
	await said(page, `alone was not run: it has overlap skip, and its job ${id} is still live.`);
	assert.equal(await page.getByText("A job of alone is enqueued.").count(), 0);
	assert.equal(its.db.json(["list", "solo"]).length, 1);
	await closeQuietly(page);
});

test("the second click of a double click does nothing, whatever button is there by then", async () => {
	const posts = [];
	const page = await open(its.browser, its.base, "#/schedules");
	page.on("request", (request) => request.method() === "POST" && posts.push(request.url().split("/").pop()));
	async function doubleClick(first, second) {
		const { x, y, width, height } = await page.getByRole("button", { name: first }).boundingBox();
		await page.mouse.move(x + width / 2, y + height / 2);
		await page.mouse.down();
		await page.mouse.up();
		await page.getByRole("button", { name: second }).waitFor();
		await page.locator("main [aria-disabled=true]").waitFor({ state: "detached" });
		await page.mouse.down({ clickCount: 2 });
		await page.mouse.up({ clickCount: 2 });
	}
	await page.getByRole("button", { name: "Pause nightly" }).waitFor();
	await doubleClick("Pause nightly", "Resume nightly");
	const { id } = its.db.json(["list", "imports", "--state", "dead"])[0];
	await visit(page, `#/job/${id}`);
	await page.getByRole("button", { name: "Retry" }).waitFor();
	await doubleClick("Retry", "Cancel…");
	assert.equal(await page.getByRole("dialog").count(), 0);
	assert.deepEqual(posts, ["pause", "retry"]);
	await closeQuietly(page);
	its.db.run(["cron", "resume", "nightly"]);
});

test("doctor's findings are shown, the worst first, with what helps", async () => {
	const page = await open(its.browser, its.base, "#/doctor");
	await page.locator(".finding").first().waitFor();
	const levels = await page.locator(".finding .tag").allInnerTexts();
	const order = ["danger", "trouble", "warning"];
	const ranks = levels.map((level) => order.indexOf(level));
	assert.deepEqual(ranks, [...ranks].sort());
	const found = page.locator(".finding", { hasText: "no space left on device" });
	await found.getByText("readpast retry --dead imports").waitFor();
	await found.getByRole("link", { name: "queue imports" }).click();
	await page.getByRole("heading", { name: "imports" }).waitFor();
	await closeQuietly(page);
});

test("a page that does not exist leads back", async () => {
	const page = await open(its.browser, its.base, "#/nowhere");
	await page.getByText("There is no such page.").waitFor();
	await page.getByRole("link", { name: "Show all queues" }).click();
	await row(page, "mail").waitFor();
	await visit(page, "#/%");
	await page.getByText("There is no such page.").waitFor();
	await closeQuietly(page);
});
