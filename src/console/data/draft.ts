import { ref, watch, type Ref } from "vue";

const PREFIX = "parley.draft.";

/**
 * Unsent text that outlives a reload and an ended session, until the tab is closed. Nothing secret belongs in it.
 *
 * @param key names the place: `chat/628…/62812…`
 */
export function useDraft(key: string, initial = ""): Ref<string> {
  const draft = ref(sessionStorage.getItem(PREFIX + key) ?? initial);
  watch(draft, (text) => {
    if (text === initial || text === "") sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, text);
  });
  return draft;
}

/** Forgets all unsent text, as when somebody signs out. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}
