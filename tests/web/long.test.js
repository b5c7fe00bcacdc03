// Names, keys and texts without a space, as long as they may be. They are broken or cut,
// so that the page is not wider than a phone.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { DESKTOP, open, PHONE, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const QUEUE = "q".repeat(128);
const DEAD = "d".repeat(128);
const HASH = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";
const KIND = "k".repeat(128);
const GROUP = "g".repeat(255);
const HEADER = "h".repeat(80);
const SCHEDULE = "s".repeat(128);
const REASON = "r".repeat(255);
const WORKER = "w".repeat(200);
const WORD = "e".repeat(1000);

const OPTIONS = ["--kind", KIND, "--group", GROUP, "--unique", "u".repeat(255), "--header", `${HEADER}=${"v".repeat(400)}`];

const its = suite((db) => {
	db.run(["queue", "set", QUEUE, "--max-attempts", "1"]);
	db.enqueue(QUEUE, WORD, ...OPTIONS);
	db.fail(QUEUE, WORD);
	db.run(["queue", "set", DEAD]);
	db.run(["queue", "set", QUEUE, "--group-limit", "1", "--dead-to", DEAD, "--max-attempts", "3"]);
	db.enqueue(QUEUE, WORD, ...OPTIONS);
	db.enqueue(QUEUE, WORD, "--unique", HASH, "--group", GROUP);
	db.run(["pause", DEAD, "--reason", REASON]);
	db.enqueue(DEAD, WORD);
	db.run(["cron", "add", QUEUE, SCHEDULE, "@daily", "--kind", KIND]);
});

async function claim(worker, queue) {
	const body = JSON.stringify({ queues: [queue], worker });
	const answer = await fetch(`${its.base}v1/claim`, { method: "POST", body });
	return (await answer.json()).jobs[0];
}

function settle(claim, verdict, more) {
	const body = JSON.stringify({ verdicts: [{ claim, verdict, ...more }] });
	return fetch(`${its.base}v1/verdicts`, { method: "POST", body });
}

async function makeHistory() {
	const failed = await claim(WORKER, QUEUE);
	await settle(failed.claim, "fail", { error: WORD, delay: "0s" });
	const running = await claim(WORKER, QUEUE);
	await settle(running.claim, "extend", { progress: WORD });
	return running.id;
}

/** Returns the address of each page, and a text that it shows. */
function pagesOf(running, dead) {
	return {
		"#/queues": QUEUE,
		[`#/queue/${QUEUE}`]: HASH,
		[`#/queue/${QUEUE}?state=dead`]: WORD,
		[`#/queue/${QUEUE}?view=groups`]: GROUP,
		[`#/queue/${QUEUE}?view=settings`]: DEAD,
		[`#/queue/${DEAD}`]: REASON,
		[`#/queue/${"x".repeat(128)}`]: "There is no queue",
		[`#/job/${running}`]: `worker ${WORKER}`,
		[`#/job/${dead}`]: HEADER,
		"#/dead": WORD,
		"#/workers": WORKER,
		"#/schedules": SCHEDULE,
		"#/doctor": "Doctor",
	};
}

test("no text makes a page wider than a phone or a window", async () => {
	const running = await makeHistory();
	const dead = its.db.json(["list", QUEUE, "--state", "dead"])[0].id;
	const wide = [];
	for (const viewport of [PHONE, DESKTOP]) {
		const page = await open(its.browser, its.base, "", { viewport });
		for (const [hash, text] of Object.entries(pagesOf(running, dead))) {
			await visit(page, hash);
			await page.locator("main", { hasText: text }).waitFor();
			await page.waitForTimeout(300);
			const width = await page.evaluate(() => document.documentElement.scrollWidth);
			if (width > viewport.width) wide.push(`${hash}: ${width} of ${viewport.width} pixels`);
		}
		await page.context().close();
	}
	assert.deepEqual(wide, []);
});

test("no text makes a dialog wider than a phone", async () => {
	const id = its.db.enqueue(DEAD, WORD);
	const page = await open(its.browser, its.base, "", { viewport: { width: 360, height: 740 } });
	for (const [hash, button] of [
		[`#/queue/${QUEUE}`, "Cancel these…"],
		[`#/queue/${QUEUE}?state=dead`, "Retry these…"],
		[`#/queue/${QUEUE}?view=settings`, "Change settings…"],
		[`#/job/${id}`, "Change…"],
		[`#/job/${id}`, "Cancel…"],
	]) {
		await visit(page, hash);
		await page.getByRole("button", { name: button }).click();
		const dialog = page.getByRole("dialog");
		await until(async () => (await dialog.locator(".loading").count()) === 0, "the whole dialog");
		const wide = await dialog.evaluate((box) => box.scrollWidth - box.clientWidth);
		assert.equal(wide, 0, `${button} on ${hash.slice(0, 20)}`);
		await page.keyboard.press("Escape");
		await dialog.waitFor({ state: "detached" });
	}
	await page.context().close();
});
