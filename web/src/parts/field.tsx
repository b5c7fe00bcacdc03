// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useId } from "preact/hooks";

/** A text field with a label. A screen reader reads the hint with the field. */
export function Field({
	label,
	name,
	value,
	hint,
	type = "text",
	placeholder,
	exact,
	focus,
}: {
	label: string;
	name: string;
	value?: string;
	hint?: string;
	type?: "text" | "password";
	placeholder?: string;
	/** true: white space at the ends belongs to the value, as in a name */
	exact?: boolean;
	focus?: boolean;
}) {
	const id = useId();
	return (
		<div class="field">
			<label for={id}>{label}</label>
			<input
				id={id}
				name={name}
				{...({ type } as object)}
				defaultValue={value ?? ""}
				placeholder={placeholder}
				autoFocus={focus}
				autoComplete="off"
				spellcheck={false}
				data-exact={exact}
				aria-describedby={hint ? `${id}-hint` : undefined}
			/>
			{hint && (
				<p id={`${id}-hint`} class="hint">
					{hint}
				</p>
			)}
		</div>
	);
}

/** Returns the number that was typed, as the API takes it. Any other text is returned
 * unchanged, so that the server's error explains the mistake, and so is a number with more
 * digits than JavaScript can compute with. */
export function numberOf(text: string): number | string {
	return /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}

/** Returns the values of the fields that the user has changed. */
export function readChanges(form: HTMLFormElement): Record<string, string> {
	const values: Record<string, string> = {};
	for (const { name, value, defaultValue, dataset } of form.querySelectorAll("input")) {
		// A browser leaves out line breaks of the value that it was given.
		if (value !== defaultValue.replace(/[\r\n]/g, "")) values[name] = dataset.exact ? value : value.trim();
	}
	return values;
}
