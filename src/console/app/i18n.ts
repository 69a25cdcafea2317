import { createI18n, type Composer } from "vue-i18n";

/** Texts by key, in as many levels as they like. */
interface Texts {
  [key: string]: string | Texts;
}

/** Languages that there are texts for, by their own names. */
export const LANGUAGES = {
  en: "English",
  es: "Español",
  pt: "Português",
  id: "Bahasa Indonesia",
} as const;
export type Language = keyof typeof LANGUAGES;

/** `?lang=rtl` of a development build or a test: English, written from right to left. */
const PSEUDO = "rtl";
const STORED = "parley.language";

/** The first screen is to be small: texts of these areas come with their screens, see {@link withTexts}. */
const english = import.meta.glob<Texts>(
  ["../locales/en/*.json", "!../locales/en/{bots,changes,chats,contacts,groups,webhooks}.json"],
  { eager: true, import: "default" },
);
const late = import.meta.glob<Texts>("../locales/en/{bots,changes,chats,contacts,groups,webhooks}.json", {
  import: "default",
});
const others = import.meta.glob<Texts>("../locales/{es,pt,id}/*.json", { import: "default" });

/** `../locales/en/numbers.json` → `numbers` */
const areaOf = (path: string): string => path.split("/").pop()!.replace(".json", "");

/** All texts of the console; those of other languages than English are loaded when they are asked for. */
export const i18n = createI18n({
  legacy: false,
  locale: "en",
  fallbackLocale: "en",
  missingWarn: false,
  fallbackWarn: false,
  messages: {
    en: Object.fromEntries(Object.entries(english).map(([path, texts]) => [areaOf(path), texts])),
  },
});
/** The library's type of it knows English alone. */
const all = i18n.global as unknown as Composer;

const isLanguage = (name: string): name is Language => Object.hasOwn(LANGUAGES, name);

/** What was chosen here before, else the first of the browser's that there are texts for. */
export function preferredLanguage(): Language | typeof PSEUDO {
  if (new URLSearchParams(location.search).get("lang") === PSEUDO) return PSEUDO;
  const wanted = [localStorage.getItem(STORED) ?? "", ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return wanted.find(isLanguage) ?? "en";
}

/**
 * A screen together with the English texts that are not among the first ones; other languages have theirs all together.
 *
 * @param area of the texts
 * @param load the screen
 */
export const withTexts =
  <T>(area: "bots" | "changes" | "chats" | "contacts" | "groups" | "webhooks", load: () => Promise<T>) =>
  async (): Promise<T> => {
    const [screen, texts] = await Promise.all([load(), late[`../locales/en/${area}.json`]!()]);
    all.mergeLocaleMessage("en", { [area]: texts });
    return screen;
  };

/** Shows everything in this language from now on. */
export async function useLanguage(language: Language | typeof PSEUDO, remember = false): Promise<void> {
  const shown = language === PSEUDO ? "en" : language;
  if (shown !== "en" && !all.availableLocales.includes(shown)) {
    const files = Object.entries(others).filter(([path]) => path.includes(`/${shown}/`));
    const texts = await Promise.all(files.map(async ([path, load]) => [areaOf(path), await load()]));
    all.setLocaleMessage(shown, Object.fromEntries(texts) as Texts);
  }
  all.locale.value = shown;
  document.documentElement.lang = shown;
  document.documentElement.dir = language === PSEUDO ? "rtl" : "ltr";
  if (remember) localStorage.setItem(STORED, shown);
}
