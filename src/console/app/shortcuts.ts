import { onBeforeUnmount, onMounted, ref, watch } from "vue";
import { useRouter } from "vue-router";
import { navigation } from "./router.ts";

const STORED = "parley.shortcuts";

/** Somebody who speaks to the machine, or rests a hand on it, turns single keys off. The browser keeps it. */
export const shortcutsOn = ref(localStorage.getItem(STORED) !== "off");
watch(shortcutsOn, (on) => (on ? localStorage.removeItem(STORED) : localStorage.setItem(STORED, "off")));

/** What its keyboard calls the key beside the space bar. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** After `g`: where it leads. */
export const PLACES: Record<string, string> = {
  h: "/home",
  c: "/chats",
  n: "/numbers",
  b: "/bots",
  w: "/webhooks",
  d: "/deliveries",
  k: "/keys",
  t: "/traffic",
};
/** For so long after `g` the next key is a place. */
const AFTER_G_MS = 1_500;

/** Words are being written, or something stands open before the screen. */
const isBusy = (target: EventTarget | null): boolean =>
  document.querySelector("[role=dialog], [role=menu]") !== null ||
  (target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select, audio, video") !== null));

/** What a screen does at a key. The last one that is shown goes first. */
type Keys = Record<string, () => void>;
const ofScreens: Keys[] = [];

/** Keys of a screen, or of a part of it, for as long as it is there. */
export function useKeys(keys: Keys): void {
  onMounted(() => ofScreens.push(keys));
  onBeforeUnmount(() => ofScreens.splice(ofScreens.indexOf(keys), 1));
}

/** The command of what is shown: of the newest part of the screen that has one. */
export function copyShown(): void {
  const buttons = document.querySelectorAll<HTMLElement>("main [data-curl]");
  [...buttons].findLast((button) => button.offsetParent !== null)?.click();
}

/**
 * Keys that lead somewhere, for as long as the component is there.
 *
 * @param shows what opens at some of them: the list of keys, and the way to everything
 */
export function useShortcuts(shows: { help: () => void; goTo: () => void }): void {
  const router = useRouter();
  let sinceG = -Infinity;
  function go(key: string): boolean {
    const path = PLACES[key];
    if (path === undefined || !navigation().some((entry) => entry.path === path)) return false;
    void router.push(path);
    return true;
  }
  function onKey(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "k") {
      event.preventDefault();
      if (document.querySelector("[role=dialog]") === null) shows.goTo();
      return;
    }
    if (!shortcutsOn.value || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isBusy(event.target)) return;
    const isSecond = event.timeStamp - sinceG < AFTER_G_MS;
    sinceG = -Infinity;
    if (isSecond && go(event.key)) return event.preventDefault();
    const own = ofScreens.findLast((keys) => Object.hasOwn(keys, event.key));
    if (own !== undefined) own[event.key]!();
    else if (event.key === "g") sinceG = event.timeStamp;
    else if (event.key === "?") shows.help();
    else if (event.key === "c") copyShown();
    else if (event.key === "/") document.querySelector<HTMLElement>("main input[type=search]")?.focus();
    else return;
    event.preventDefault();
  }
  onMounted(() => addEventListener("keydown", onKey));
  onBeforeUnmount(() => removeEventListener("keydown", onKey));
}
