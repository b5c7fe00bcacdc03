// The focus after each action by keyboard. If it were lost, a screen reader would begin
// at the top of the page again.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, open, row, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();
const dead = (queue) => its.db.json(["list", queue, "--state", "dead"])[0].id;

/** Focus the button or link, and press Enter. */
async function press(page, role, name) {
	const control = page.getByRole(role, { name });
	await control.focus();
	await page.keyboard.press("Enter");
}

/** Returns the name of what has the focus. */
function focused(page) {
	return page.evaluate(() => {
		const at = document.activeElement;
		return at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText ?? (at === document.body ? "body" : at.innerText);
	});
}

async function hasFocus(page, name) {
	let last;
	await until(async () => (last = await focused(page)) === name, `the focus on ${name}`).catch((error) => {
		error.message += `, but it is on ${last.slice(0, 60)}`;
		throw error;
	});
}

test("the button that pauses and resumes a queue keeps the focus", async () => {
	const page = await open(its.browser, its.base);
	await press(page, "button", "Pause queue mail");
	await hasFocus(page, "Reason");
	await page.keyboard.press("Enter");
	await said(page, "Queue mail is paused.");
	await hasFocus(page, "Resume queue mail");
	await page.keyboard.press("Enter");
	await said(page, "Queue mail runs again.");
	await hasFocus(page, "Pause queue mail");
	await closeQuietly(page);
});

test("the buttons of a schedule keep the focus", async () => {
	const page = await open(its.browser, its.base, "#/schedules");
	await press(page, "button", "Run nightly now");
	await said(page, "A job of nightly is enqueued.");
	await hasFocus(page, "Run nightly now");
	await press(page, "button", "Pause nightly");
	await said(page, "nightly is paused.");
	await hasFocus(page, "Resume nightly");
	await page.keyboard.press("Enter");
	await said(page, "nightly fires again.");
	await hasFocus(page, "Pause nightly");
	await visit(page, "#/doctor");
	await press(page, "button", "Examine again");
	await hasFocus(page, "Examine again");
	await closeQuietly(page);
});

test("the focus stays at the buttons of a job, although other buttons replace them", async () => {
	const id = dead("mail");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await press(page, "button", "Retry");
	await page.locator("h1 .state.ready").waitFor();
	await hasFocus(page, "Change…");
	await page.keyboard.press("Enter");
	await page.getByLabel("Priority").fill("9");
	await page.keyboard.press("Enter");
	await said(page, `Job ${id} is changed.`);
	await hasFocus(page, "Change…");
	await press(page, "button", "Cancel…");
	await press(page, "button", "Cancel the job");
	await page.locator("h1 .state.cancelled").waitFor();
	await hasFocus(page, "Retry");
	await closeQuietly(page);
});

test("the focus is back at the button that opened a dialog", async () => {
	const page = await open(its.browser, its.base, "#/queue/imports?view=settings");
	await press(page, "button", "Change settings…");
	await page.getByLabel("max-attempts").fill("4");
	await page.keyboard.press("Enter");
	await said(page, "The settings of imports are changed.");
	await hasFocus(page, "Change settings…");
	await visit(page, "#/queue/mail?state=dead");
	await press(page, "button", "Delete these…");
	await press(page, "button", /Delete \d jobs/);
	await said(page, "of mail are deleted.");
	await hasFocus(page, "Delete these…");
	await closeQuietly(page);
});

test("after the last job of an error the focus is at the next error", async () => {
	const page = await open(its.browser, its.base, "#/dead");
	await press(page, "button", /^Retry: .*not a number/);
	await press(page, "button", "Retry 9 jobs");
	await said(page, "9 jobs of imports are retried.");
	await hasFocus(page, await row(page, "no space").locator("a.open").innerText());
	await closeQuietly(page);
});

test("after the end of a job the focus is at the next job of the list", async () => {
	const ids = its.db.json(["list", "thumbnails", "--state", "ready"]).map((job) => String(job.id));
	const page = await open(its.browser, its.base, "#/queue/thumbnails?state=ready");
	await page.getByRole("link", { name: ids[5], exact: true }).focus();
	its.db.run(["cancel", ids[5]]);
	await hasFocus(page, ids[6]);
	its.db.run(["cancel", ...ids.slice(6)]);
	await hasFocus(page, ids[4]);
	await closeQuietly(page);
});

test("the field that was filtered by keeps the focus", async () => {
	const page = await open(its.browser, its.base, "#/queue/imports?state=dead");
	await page.getByLabel("Error contains").fill("no space");
	await page.keyboard.press("Enter");
	await page.getByRole("link", { name: "Show all" }).waitFor();
	await hasFocus(page, "Error contains");
	await press(page, "link", "Show all");
	await hasFocus(page, "Filter");
	assert.equal(await page.getByLabel("Error contains").inputValue(), "");
	await closeQuietly(page);
});

test("the next jobs of a queue get the focus", async () => {
	its.db.run(["enqueue", "long", "--quiet"], "x\n".repeat(150));
	const page = await open(its.browser, its.base, "#/queue/long");
	for (const name of ["More jobs", "First jobs"]) {
		await press(page, "link", name);
		await page.getByRole("link", { name }).waitFor({ state: "detached" });
		await hasFocus(page, "Jobs");
	}
	await closeQuietly(page);
});

test("on the last page of a list the focus is at the button that leads back", async () => {
	for (let i = 100; i < 320; i++) await fetch(`${its.base}v1/queues/many-${i}`, { method: "PUT" });
	const page = await open(its.browser, its.base);
	await press(page, "button", "More");
	await hasFocus(page, "Previous");
	await closeQuietly(page);
});
