/** Markup that is already safe. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | Html[] | string | number;

/** Everything that is put in is escaped, but for what is markup already. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((text, string, index) => text + asText(parts[index - 1]!) + string));
}

function asText(part: Part): string {
  if (part instanceof Html) return part.text;
  return Array.isArray(part) ? part.map(({ text }) => text).join("") : escape(String(part));
}

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign]!);

/** Text with `code` in it. */
export function prose(text: string): Html[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
