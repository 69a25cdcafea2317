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
 * Texts of several folders, key by key: a later one puts its own in the place of an earlier one's.
 *
 * @param folders content of `locales/<language>.json` by language
 * @returns the texts, and what in the files is no text
 */
export function readLocales(...folders: readonly LocaleFiles[]): { locales: Locales; problems: string[] } {
  const problems: string[] = [];
  const read = folders.map((files) => textsOf(files, problems));
  const locales = new Map<string, Map<string, string>>();
  for (const own of read)
    for (const [language, { texts }] of own)
      locales.set(language, new Map([...(locales.get(language) ?? []), ...texts]));
  return {
    locales,
    problems: [
      ...problems,
      ...atMost(read.flatMap((own, index) => differences(own, read.slice(0, index), locales))),
    ],
  };
}

/** The same as content of files, for those who hand it on. */
export const mergeLocales = (...folders: readonly LocaleFiles[]): Record<string, unknown> =>
  Object.fromEntries(
    [...readLocales(...folders).locales].map(([language, texts]) => [language, Object.fromEntries(texts)]),
  );

/** One file: its name without extension, and its texts by key. */
interface OwnTexts {
  name: string;
  texts: ReadonlyMap<string, string>;
}

/** By language. */
function textsOf(files: LocaleFiles, problems: string[]): Map<string, OwnTexts> {
  const own = new Map<string, OwnTexts>();
  for (const [name, content] of Object.entries(files)) {
    const texts = new Map<string, string>();
    flatten(content, "", texts, (key) => problems.push(`locales/${name}.json: "${key}" is not a text.`));
    // One that cannot be read is reported, and not asked for all that it lacks.
    if (content !== null) own.set(name.toLowerCase(), { name, texts });
  }
  return own;
}

const MOST_DIFFERENCES = 20;

/**
 * Texts of one folder that one of its languages has and another has not, or that take other values there. `pt-BR` may leave to
 * `pt` what it likes, and a folder is not asked for languages that it does not have.
 *
 * @param earlier folders that are asked for their own keys, whoever puts another text there
 * @param locales texts of all folders: what one lacks another may have
 */
function differences(
  own: ReadonlyMap<string, OwnTexts>,
  earlier: readonly ReadonlyMap<string, OwnTexts>[],
  locales: Locales,
): string[] {
  const isTheirs = (key: string): boolean =>
    earlier.some((folder) => [...folder.values()].some(({ texts }) => texts.has(key)));
  const whole = [...own].filter(
    ([language]) => !language.includes("-") || !locales.has(language.split("-")[0]!),
  );
  const first = new Map<string, { locale: string; values: string }>();
  for (const [, { name, texts }] of whole)
    for (const [key, text] of texts)
      if (!first.has(key) && !isTheirs(key)) first.set(key, { locale: name, values: valuesOf(text) });
  const found: string[] = [];
  for (const [language, { name }] of whole)
    for (const [key, known] of first) {
      const text = locales.get(language)!.get(key);
      if (text === undefined)
        found.push(`locales/${name}.json has no "${key}", which ${known.locale}.json has.`);
      else if (valuesOf(text) !== known.values)
        found.push(
          `locales/${name}.json: "${key}" takes different values from ${known.locale}.json (${known.values || "none"}).`,
        );
    }
  return found;
}

function atMost(found: string[]): string[] {
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
