// A chart of the last minutes, drawn by uPlot on a canvas.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { now } from "../clock";
import { count, rate } from "../format";
import { type History, tick } from "../live";
import type { Stats } from "../types";

export interface Line {
	key: "done" | "failed" | "ready" | "running";
	label: string;
	/** the name of a variable of the style sheet */
	color: string;
	fill?: boolean;
	/** true: a number of jobs, and not a rate */
	isCount?: boolean;
}

/** The lines of a chart of finished attempts. */
export const RATES: Line[] = [
	{ key: "done", label: "done/s", color: "--running", fill: true },
	{ key: "failed", label: "failed/s", color: "--dead" },
];

const HEIGHT = 150;
/** The chart shows at least this many seconds, so that it does not stretch a
 * few points over its whole width. */
const LEAST_SPAN_S = 120;

/** uPlot is loaded only when the browser has nothing else to do, so that a page shows
 * its numbers before its charts. Safari has no requestIdleCallback(). */
const whenIdle: (run: () => void) => void = window.requestIdleCallback ?? setTimeout;

function variable(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function data(history: History, lines: Line[]): uPlot.AlignedData {
	return [history.at, ...lines.map((line) => history[line.key])];
}

/** Returns the times at which the chart begins and ends. uPlot would give one point the
 * width of a day. */
function range({ at }: History): [number, number] {
	const end = at.at(-1) ?? now.peek() / 1000;
	return [Math.min(at[0] ?? end, end - LEAST_SPAN_S), end];
}

function make(UPlot: typeof uPlot, box: HTMLElement, history: History, lines: Line[]): uPlot {
	const isCount = lines.every((line) => line.isCount); // there is no half job
	const axis: uPlot.Axis = {
		stroke: variable("--soft"),
		grid: { stroke: variable("--line"), width: 1 },
		ticks: { show: false },
		font: `11px ${variable("--sans")}`,
	};
	return new UPlot(
		{
			width: Math.max(box.clientWidth, 100),
			height: HEIGHT,
			padding: [8, 24, 0, 0], // the last time on the axis needs room
			legend: { show: false },
			cursor: { drag: { x: false, y: false }, points: { size: 6 } },
			scales: { x: { range: () => range(history) }, y: { range: (_, __, high) => [0, Math.max(1, high * 1.1)] } },
			axes: [
				{ ...axis, grid: { show: false }, space: 80, size: 26, values: (_, ticks) => ticks.map(clockTime) },
				{ ...axis, size: 42, space: 30, values: (_, ticks) => ticks.map((n) => (isCount && n % 1 ? "" : short(n))) },
			],
			series: [
				{},
				...lines.map((line) => ({
					label: line.label,
					stroke: variable(line.color),
					width: 1.5,
					fill: line.fill ? `${variable(line.color)}1f` : undefined,
					points: { show: false },
				})),
			],
		},
		data(history, lines),
		box,
	);
}

/** "19:43:20", without the seconds if they are 0 */
function clockTime(at: number): string {
	const text = new Date(at * 1000).toTimeString().slice(0, 8);
	return text.endsWith(":00") ? text.slice(0, 5) : text;
}

function short(n: number): string {
	return n >= 1000 ? `${n / 1000}k` : String(n);
}

/** Draw a chart, and draw it again after each change. Returns a function that ends it. */
function draw(UPlot: typeof uPlot, box: HTMLElement, history: History, lines: Line[]): () => void {
	let plot = make(UPlot, box, history, lines);
	const redo = () => {
		plot.destroy();
		plot = make(UPlot, box, history, lines);
	};
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const size = new ResizeObserver(() =>
		plot.setSize({ width: Math.max(box.clientWidth, 100), height: HEIGHT }),
	);
	const stop = tick.subscribe(() => plot.setData(data(history, lines)));
	dark.addEventListener("change", redo);
	size.observe(box);
	return () => {
		stop();
		size.disconnect();
		dark.removeEventListener("change", redo);
		plot.destroy();
	};
}

/** A chart is a picture, so its last values are also given as text. */
export function Chart({
	title,
	history,
	lines,
	numbers,
}: {
	title: string;
	history: History;
	lines: Line[];
	/** tells whether the last counts are only the least */
	numbers?: Stats | undefined;
}) {
	const box = useRef<HTMLDivElement>(null);

	useEffect(() => {
		const element = box.current;
		if (!element) return undefined;
		let stop: (() => void) | null = null;
		let isGone = false;
		const load = async () => {
			const { default: UPlot } = await import("uplot");
			if (!isGone) stop = draw(UPlot, element, history, lines);
		};
		// If uPlot cannot be loaded, the page still has its numbers.
		whenIdle(() => void load().catch(() => undefined));
		return () => {
			isGone = true;
			stop?.();
		};
	}, [history]);

	const last = (line: (typeof lines)[number]): string => {
		const value = history[line.key].at(-1) ?? null; // null: not known
		if (value === null) return "–";
		return line.isCount ? count(value, numbers?.[`${line.key}_at_least` as "ready_at_least"]) : rate(value);
	};

	tick.value; // the text below follows the live numbers
	return (
		<figure class="chart">
			<figcaption>
				<span class="title">{title}</span>
				{lines.map((line) => (
					<span key={line.key} class={`key ${line.key}`}>
						{line.label} <b>{last(line)}</b>
					</span>
				))}
			</figcaption>
			<div ref={box} style={{ minHeight: `${HEIGHT}px` }} aria-hidden="true" />
		</figure>
	);
}
