import { ref, watchEffect } from "vue";

/** `system` follows the device. */
export type Theme = "system" | "light" | "dark";
const STORED = "parley.theme";
const stored = localStorage.getItem(STORED);

/** What was chosen here; it is kept by the browser. */
export const theme = ref<Theme>(stored === "light" || stored === "dark" ? stored : "system");

/** Applies the theme, now and whenever it changes. */
export function followTheme(): void {
  watchEffect(() => {
    const root = document.documentElement;
    if (theme.value === "system") {
      delete root.dataset["theme"];
      localStorage.removeItem(STORED);
    } else {
      root.dataset["theme"] = theme.value;
      localStorage.setItem(STORED, theme.value);
    }
  });
}
