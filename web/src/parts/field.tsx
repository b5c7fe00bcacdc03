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
	focus,
}: {
	label: string;
	name: string;
	value?: string;
	hint?: string;
	type?: "text" | "password";
	placeholder?: string;
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

/** Returns the fields of a form as text, without white space around them. */
export function readForm(form: HTMLFormElement): Record<string, string> {
	const values: Record<string, string> = {};
	new FormData(form).forEach((value, name) => {
		values[name] = String(value).trim();
	});
	return values;
}
