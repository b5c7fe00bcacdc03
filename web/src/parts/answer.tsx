// Parts of pages: the data of an answer, and notes for a read that has not ended, a
// read that failed, and an empty list.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";
import type { Answer } from "../answer";

/** Show that something could not be read. If the page shows data, `isOver` is true: the
 * note lies over the bottom of the window, so that nothing moves from under the pointer. */
export function Failure({
	title,
	message,
	isOver,
	onRetry,
}: {
	title: string;
	message: string;
	isOver: boolean;
	onRetry: () => void;
}) {
	return (
		<div class={isOver ? "problem over" : "problem"} role="alert">
			<p>
				<strong>{title}</strong> {message}
			</p>
			<button type="button" onClick={onRetry}>
				Try again
			</button>
		</div>
	);
}

/** Show the data of an answer. If the last read failed, show the failure, and the data of
 * an earlier read, if there is any. A page whose heading is a part of its data has the
 * heading `title` until there are data. */
export function Shown<T>({
	answer,
	title,
	children,
}: {
	answer: Answer<T>;
	title?: string;
	children: (data: T) => ComponentChildren;
}) {
	const { data, problem, loading, reload } = answer;
	return (
		<>
			{title && data === null && (
				<div class="bar">
					<h1>{title}</h1>
				</div>
			)}
			{problem && (
				<Failure
					title={data === null ? "This could not be read." : "These numbers are not up to date."}
					message={problem.message}
					isOver={data !== null}
					onRetry={reload}
				/>
			)}
			{data !== null ? children(data) : !problem && loading && <Loading />}
		</>
	);
}

export function Loading() {
	return (
		<p class="loading" role="status">
			Reading…
		</p>
	);
}

/** `isPage`: there is nothing else on the page, so the title is its heading. */
export function Empty({ title, isPage, children }: { title: string; isPage?: boolean; children?: ComponentChildren }) {
	const Title = isPage ? "h1" : "p";
	return (
		<div class="empty">
			<svg viewBox="0 0 48 30" aria-hidden="true">
				<rect x="4" y="2" width="40" height="6" rx="3" />
				<rect x="4" y="12" width="22" height="6" rx="3" class="skipped" />
				<rect x="4" y="22" width="40" height="6" rx="3" />
				<path d="M32 10q6 5 0 10" />
			</svg>
			<Title class="title">{title}</Title>
			{children && <div class="hint">{children}</div>}
		</div>
	);
}
