import { isObject, textOf } from "../fields.ts";

/**
 * Buttons, lists and templates as a text with numbers: phones no longer show them when they come from a linked device.
 *
 * @returns null when `value` is none of them, or holds nothing that can be shown
 */
export function asNumberedText(value: Record<string, unknown>): string | null {
  const lines = choicesOf(value);
  if (lines.length === 0) return null;
  const head = [heading(value.title), textOf(value) ?? heading(value.caption)];
  return (
    [...head, lines.join("\n"), heading(value.footer)]
      .filter((part) => part !== null && part.trim() !== "")
      // The PHP helpers end every line of the text, the last one too.
      .map((part) => part!.trimEnd())
      .join("\n\n")
  );
}

function choicesOf(value: Record<string, unknown>): string[] {
  if (Array.isArray(value.sections)) return listLines(value.sections);
  const buttons = Array.isArray(value.buttons) ? value.buttons : value.templateButtons;
  if (!Array.isArray(buttons)) return [];
  return numbered(
    buttons.map(buttonLabel).filter((label) => label !== null),
    1,
  );
}

/** Rows are numbered through all sections, so that an answer "3" means one row. */
function listLines(sections: unknown[]): string[] {
  const lines: string[] = [];
  let next = 1;
  for (const section of sections) {
    if (!isObject(section) || !Array.isArray(section.rows)) continue;
    const rows = section.rows.map(rowLabel).filter((label) => label !== null);
    const title = heading(section.title);
    if (rows.length > 0 && title !== null) lines.push(`*${title}*`);
    lines.push(...numbered(rows, next));
    next += rows.length;
  }
  return lines;
}

function numbered(labels: string[], from: number): string[] {
  return labels.map((label, index) => `${from + index}. ${label}`);
}

function rowLabel(row: unknown): string | null {
  if (!isObject(row)) return heading(row);
  const title = heading(row.title) ?? heading(row.rowId);
  const description = heading(row.description);
  return title !== null && description !== null ? `${title} – ${description}` : title;
}

function buttonLabel(button: unknown): string | null {
  if (!isObject(button)) return heading(button);
  const { urlButton, callButton, quickReplyButton, buttonText } = button;
  if (isObject(urlButton)) return withTarget(urlButton, urlButton.url);
  if (isObject(callButton)) return withTarget(callButton, callButton.phoneNumber);
  if (isObject(quickReplyButton)) return heading(quickReplyButton.displayText);
  const label = isObject(buttonText) ? buttonText.displayText : buttonText;
  return heading(label) ?? heading(button.displayText) ?? heading(button.text) ?? heading(button.title);
}

/** A link or a phone number is worth nothing without itself. */
function withTarget(button: Record<string, unknown>, target: unknown): string | null {
  const parts = [heading(button.displayText), heading(target)].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(": ");
}

function heading(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}
