import type { Composer } from "vue-i18n";
import { i18n, useLanguage, type Language } from "../console/app/i18n.ts";
import english from "./locales/en.json";

const others = import.meta.glob<Record<string, unknown>>("./locales/{es,pt,id}.json", { import: "default" });
const all = i18n.global as unknown as Composer;
all.mergeLocaleMessage("en", { play: english });

/** Shows the page in this language from now on. @param remember keep the choice in this browser */
export async function speak(language: Language | "rtl", remember = false): Promise<void> {
  await useLanguage(language, remember);
  const load = others[`./locales/${language}.json`];
  if (load === undefined) return;
  all.mergeLocaleMessage(language, { play: await load() });
  // Only another language makes what is on the page be read anew; texts that are added to it do not.
  all.locale.value = "en";
  all.locale.value = language;
}
