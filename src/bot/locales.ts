/** Texts by language: `{ "en": { "greeting": "Hello {name}" }, "pt-BR": { … } }`. Nested keys are joined by dots. */
export type Locales = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Parsed JSON of the files in `locales/` by language; an interface, so that the build's list fits it. */
export interface LocaleFiles {
  [locale: string]: unknown;
}

/**
 * @param files content of `locales/<language>.json` by language
 * @returns the texts, and what in the files is no text
 */
export function readLocales(files: LocaleFiles): { locales: Locales; problems: string[] } {
  const problems: string[] = [];
  const locales = new Map<string, ReadonlyMap<string, string>>();
  for (const [locale, content] of Object.entries(files)) {
    const texts = new Map<string, string>();
    flatten(content, "", texts, (key) => problems.push(`locales/${locale}.json: "${key}" is no text.`));
    locales.set(locale.toLowerCase(), texts);
  }
  return { locales, problems };
}

function flatten(
  value: unknown,
  key: string,
  texts: Map<string, string>,
  wrong: (key: string) => void,
): void {
  if (typeof value === "string") return void texts.set(key, value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return wrong(key);
  for (const [name, inner] of Object.entries(value))
    flatten(inner, key === "" ? name : `${key}.${name}`, texts, wrong);
}

/**
 * Looks for the text in `pt-BR`, then `pt`, then the bot's own language; the key itself when nobody has it.
 *
 * @param values replace `{name}`; one that is not given stays as it is written
 */
export function translate(
  locales: Locales,
  languages: readonly string[],
  key: string,
  values: Readonly<Record<string, unknown>> = {},
): string {
  const wanted = languages.flatMap((language) => [language, language.split("-")[0]!]);
  const text = wanted
    .map((language) => locales.get(language.toLowerCase())?.get(key))
    .find((found) => found !== undefined);
  return (text ?? key).replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}
