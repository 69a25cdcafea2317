/** Texts by language: `{ "en": { "greeting": "Hello {name}" }, "pt-BR": { … } }`. Nested keys are joined by dots. */
export type Locales = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Parsed JSON of the files in `locales/` by language; an interface, so that the build's list fits it. */
export interface LocaleFiles {
  [locale: string]: unknown;
}

const VALUE = /\{(\w+)\}/g;
/** `menu.hello`: nobody writes that to a person. What has a blank in it may be a text as it is. */
const KEY = /^[\w-]{1,100}(?:\.[\w-]{1,100}){1,10}$/;

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
  return { locales, problems: [...problems, ...differences(files, locales)] };
}

const MOST_DIFFERENCES = 20;

/** Texts that one language has and another has not, or that take other values there. `pt-BR` may leave to `pt` what it likes. */
function differences(files: LocaleFiles, locales: Locales): string[] {
  const whole = Object.keys(files).filter(
    (name) => !locales.has(name.toLowerCase().split("-")[0]!) || !name.includes("-"),
  );
  const first = new Map<string, { locale: string; values: string }>();
  for (const locale of whole)
    for (const [key, text] of locales.get(locale.toLowerCase())!)
      if (!first.has(key)) first.set(key, { locale, values: valuesOf(text) });
  const found: string[] = [];
  for (const locale of whole)
    for (const [key, known] of first) {
      const text = locales.get(locale.toLowerCase())!.get(key);
      if (text === undefined)
        found.push(`locales/${locale}.json has no "${key}", which ${known.locale}.json has.`);
      else if (valuesOf(text) !== known.values)
        found.push(
          `locales/${locale}.json: "${key}" takes other values than in ${known.locale}.json (${known.values || "none"}).`,
        );
    }
  const more = found.length - MOST_DIFFERENCES;
  return more > 0 ? [...found.slice(0, MOST_DIFFERENCES), `locales: ${more} more texts are missing.`] : found;
}

const valuesOf = (text: string): string =>
  [...new Set(Array.from(text.matchAll(VALUE), ([whole]) => whole))].toSorted().join(" ");

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
 * @param missing told what is not there: a key that no language has, or that the chosen one lacks, or a value
 */
export function translate(
  locales: Locales,
  languages: readonly string[],
  key: string,
  values: Readonly<Record<string, unknown>> = {},
  missing: (what: { key: string; locale: string; value?: string }) => void = () => undefined,
): string {
  const [locale = ""] = languages;
  const wanted = languages.flatMap((language) => [language, language.split("-")[0]!]);
  const found = wanted.map((language) => locales.get(language.toLowerCase())?.get(key));
  const text = found.find((one) => one !== undefined);
  const own = found[0] ?? found[1];
  if (text === undefined ? KEY.test(key) : own === undefined) missing({ key, locale });
  return (text ?? key).replace(VALUE, (whole, name: string) => {
    if (Object.hasOwn(values, name)) return String(values[name]);
    if (text !== undefined) missing({ key, locale, value: name });
    return whole;
  });
}
