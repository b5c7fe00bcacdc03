// A hook that calls the API at an address, and again while live numbers arrive.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, type Problem } from "./api";
import { streams, tick } from "./live";

export interface Answer<T> {
	/** the last good answer; kept until a later call succeeds */
	data: T | null;
	problem: Problem | null;
	loading: boolean;
	reload: () => void;
}

/** Returns whether the first call has ended. What lies below the parts that show this
 * answer waits for it, because they would move it when they appear. */
export function hasEnded<T>({ data, problem }: Answer<T>): boolean {
	return data !== null || problem !== null;
}

/** Read `path` now, and again after every `every` live events. If `every` is 0, read it
 * only once. If `path` is null, read nothing. A hidden page gets no live events, so it
 * does not read again. */
export function useAnswer<T>(path: string | null, every = 0): Answer<T> {
	const [state, setState] = useState<{
		path: string | null;
		data: T | null;
		problem: Problem | null;
	}>({ path, data: null, problem: null });
	const [round, setRound] = useState(0);
	const [loading, setLoading] = useState(path !== null);
	const isBusy = useRef(false);
	const reload = useCallback(() => setRound((n) => n + 1), []);

	useEffect(() => {
		if (path === null) return undefined;
		const mine = new AbortController();
		isBusy.current = true;
		setLoading(true);
		get<T>(path, mine.signal).then(
			(data) => {
				if (mine.signal.aborted) return;
				isBusy.current = false;
				setState({ path, data, problem: null });
				setLoading(false);
			},
			(problem: Problem) => {
				if (mine.signal.aborted) return;
				isBusy.current = false;
				setState((old) => ({
					path,
					data: old.path === path ? old.data : null,
					problem,
				}));
				setLoading(false);
			},
		);
		return () => mine.abort();
	}, [path, round]);

	useEffect(() => {
		if (!every) return undefined;
		let seen = tick.peek();
		return tick.subscribe((n) => {
			// Do not call again before the answer: a new call cancels the old one.
			if (n - seen < every || isBusy.current) return;
			seen = n;
			reload();
		});
	}, [every, reload]);

	useReloadAfterFailure(state.problem, reload);
	const current = state.path === path;
	return {
		data: current ? state.data : null,
		problem: current ? state.problem : null,
		loading,
		reload,
	};
}

/** If something could not be read, read it again when the server can be reached again. */
export function useReloadAfterFailure(problem: Problem | null, reload: () => void): void {
	useEffect(() => {
		if (!problem) return undefined;
		const seen = streams.peek();
		return streams.subscribe((n) => {
			if (n !== seen) reload();
		});
	}, [problem]);
}
