// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, open, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();
const dead = (queue) => its.db.json(["list", queue, "--state", "dead"])[0].id;

test("a dead job shows its attempts, its payload, its headers and why it is dead", async () => {
	const id = dead("mail");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByText(`Job ${id} of queue mail has been dead since`).waitFor();
	await page.getByText("Attempt 1 failed").waitFor();
	await page.getByText("Attempt 2 failed").waitFor();
	await page.locator(".timeline pre", { hasText: "421 try again" }).first().waitFor();
	await page.locator(".bytes pre", { hasText: '"template": "welcome"' }).waitFor();
	await page.getByRole("cell", { name: "4bf92f3577b3" }).waitFor();
	const [title] = await page.locator(".timeline time").first().getAttribute("title").then((t) => t.split("\n"));
	assert.match(title, /20\d\d/);
	await closeQuietly(page);
});

test("for how long a job has been dead does not stand still", async () => {
	const page = await open(its.browser, its.base, `#/job/${dead("mail")}`);
	const reason = page.getByText("has been dead since");
	const first = await reason.innerText();
	await until(async () => (await reason.innerText()) !== first, "a later time");
	await closeQuietly(page);
});

test("a dead job is retried", async () => {
	const id = dead("mail");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByRole("button", { name: "Retry" }).click();
	await said(page, `Job ${id} is retried.`);
	await page.locator("h1 .state.ready").waitFor();
	assert.equal(its.db.job(id).state, "ready");
	await closeQuietly(page);
});

test("a retry says nothing of a state, because the job may be blocked", async () => {
	its.db.run(["queue", "set", "narrow", "--group-limit", "1", "--max-attempts", "1"]);
	its.db.enqueue("narrow", "first", "--group", "g");
	its.db.fail("narrow", "no route");
	its.db.enqueue("narrow", "second", "--group", "g");
	const id = dead("narrow");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByRole("button", { name: "Retry" }).click();
	await page.locator("h1 .state.blocked").waitFor();
	assert.equal(await page.locator(".toast span").innerText(), `Job ${id} is retried.`);
	await closeQuietly(page);
});

test("a job is changed", async () => {
	const id = its.db.enqueue("reports", "change me");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByRole("button", { name: "Change…" }).click();
	await page.getByLabel("Delay").fill("2h");
	await page.getByLabel("Priority").fill("7");
	await page.getByLabel("Queue").fill("imports");
	await page.getByRole("button", { name: "Change", exact: true }).click();
	await said(page, `Job ${id} is changed.`);
	await page.locator("h1 .state.scheduled").waitFor();
	const job = its.db.job(id);
	assert.deepEqual([job.state, job.priority, job.queue], ["scheduled", 7, "imports"]);
	await closeQuietly(page);
});

test("a priority with more digits than a number can have is refused", async () => {
	const id = its.db.enqueue("reports", "keep me");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByRole("button", { name: "Change…" }).click();
	await page.getByLabel("Delay").fill("2h");
	await page.getByLabel("Priority").fill("9".repeat(309));
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").getByRole("alert").waitFor();
	await page.context().close();
});

test("a change of the priority leaves a job in its queue, whose name ends with a space", async () => {
	its.db.run(["queue", "set", "trail"]);
	const id = its.db.enqueue("trail ", "stay");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByRole("button", { name: "Change…" }).click();
	await page.getByLabel("Priority").fill(" 7 ");
	await page.keyboard.press("Enter");
	await said(page, `Job ${id} is changed.`);
	const job = its.db.job(id);
	assert.deepEqual([job.priority, job.queue], [7, "trail "]);
	for (const queue of ["trail", "trail "]) {
		await page.getByRole("button", { name: "Change…" }).click();
		await page.getByLabel("Queue").fill(queue);
		await page.keyboard.press("Enter");
		await until(async () => (await page.locator("h1 .up").textContent()) === queue, "the other queue");
		assert.equal(its.db.job(id).queue, queue);
	}
	await closeQuietly(page);
});

test("a job is cancelled after a question", async () => {
	const id = its.db.enqueue("reports", "cancel me");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByRole("button", { name: "Cancel…" }).click();
	assert.equal(its.db.job(id).state, "ready");
	await page.getByRole("button", { name: "Cancel the job" }).click();
	await said(page, `Job ${id} is cancelled.`);
	await page.locator("h1 .state.cancelled").waitFor();
	assert.equal(its.db.job(id).state, "cancelled");
	await closeQuietly(page);
});

test("the page follows the job, and says why it waits", async () => {
	const id = its.db.enqueue("fresh", "run me", "--keep", "1h");
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByText("No worker serves queue fresh").waitFor();
	its.db.run(["work", "fresh", "--drain", "--quiet", "--", "true"]);
	await page.locator("h1 .state.done").waitFor();
	await closeQuietly(page);
});

test("a result and progress are shown", async () => {
	const id = its.db.enqueue("fresh", "ask", "--keep", "1h");
	const claim = JSON.parse(its.db.run(["claim", "fresh", "--json"])).claim;
	its.db.run(["extend", claim, "--progress", "half of it"]);
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.locator(".progress", { hasText: "half of it" }).waitFor();
	its.db.run(["complete", claim, "--result", "-"], '{"answer":42}');
	await page.locator(".bytes pre", { hasText: '"answer": 42' }).waitFor();
	await closeQuietly(page);
});

test("JSON is indented, and its numbers keep all their digits", async () => {
	const id = its.db.enqueue("digits", '{"id":9007199254740993123,"f":1.10,"e":{}}');
	const page = await open(its.browser, its.base, `#/job/${id}`);
	assert.equal(
		await page.locator("section.bytes pre").first().innerText(),
		'{\n  "id": 9007199254740993123,\n  "f": 1.10,\n  "e": {}\n}',
	);
	await closeQuietly(page);
});

test("deep JSON does not fill the memory", async () => {
	const id = its.db.enqueue("deep", "[".repeat(16000) + "]".repeat(16000));
	const page = await open(its.browser, its.base);
	const devtools = await page.context().newCDPSession(page);
	const used = async () => {
		const { totalSize } = await devtools.send("Runtime.getHeapUsage");
		return totalSize / 1048576;
	};
	const before = await used();
	await visit(page, `#/job/${id}`);
	await page.getByText("Only the beginning is shown.").waitFor();
	const more = (await used()) - before;
	assert.ok(more < 50, `${more} MiB`);
	assert.match(await page.locator(".bytes pre").innerText(), /^\[\n  \[\n    \[\n/);
	await closeQuietly(page);
});

test("large numbers in headers keep all their digits", async () => {
	const headers = '{"id":9007199254740993,"least":-9223372036854775808,"list":[1,{"n":9223372036854775807}]}';
	const answer = await fetch(`${its.base}v1/queues/digits/jobs`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: `{"payload":"x","headers":${headers}}`,
	});
	const page = await open(its.browser, its.base, `#/job/${(await answer.json()).id}`);
	for (const text of ["9007199254740993", "-9223372036854775808", '[1,{"n":9223372036854775807}]'])
		await page.getByRole("cell", { name: text, exact: true }).waitFor();
	await closeQuietly(page);
});

test("a payload that is no text is shown as base64, and can be downloaded as it is", async () => {
	its.db.run(["enqueue", "bytes", "--one", "--quiet"], Buffer.from([0xff, 0xfe, 0, 1, 2]));
	const id = its.db.json(["list", "bytes"])[0].id;
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.locator(".bytes pre", { hasText: "//4AAQI=" }).waitFor();
	const download = page.waitForEvent("download");
	await page.getByRole("link", { name: "Download" }).click();
	const stream = await (await download).createReadStream();
	const chunks = [];
	for await (const chunk of stream) chunks.push(chunk);
	assert.deepEqual([...Buffer.concat(chunks)], [0xff, 0xfe, 0, 1, 2]);
	await closeQuietly(page);
});

test("a job is found by its id", async () => {
	const id = dead("imports");
	const page = await open(its.browser, its.base);
	await page.getByLabel("Find a job by its id").fill(String(id));
	await page.keyboard.press("Enter");
	await page.getByText(`Job ${id} of queue imports`).waitFor();
	await visit(page, "#/job/999999999");
	await page.getByRole("heading", { name: "There is no job 999999999.", level: 1 }).waitFor();
	await page.context().close();
});

test("a large payload does not freeze the page", async () => {
	its.db.run(["enqueue", "large", "--one", "--quiet"], "x".repeat(2000000));
	const id = its.db.json(["list", "large"])[0].id;
	const page = await open(its.browser, its.base, `#/job/${id}`);
	await page.getByText("Only the beginning is shown.").waitFor();
	await page.getByText("1.9 MiB").waitFor();
	await until(async () => (await page.locator(".bytes pre").innerText()).length < 20000, "a short text");
	await closeQuietly(page);
});
