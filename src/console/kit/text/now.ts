import { readonly, ref } from "vue";

const EVERY_MS = 10_000;
const current = ref(Date.now());
setInterval(() => (current.value = Date.now()), EVERY_MS);

/** The present, in Unix milliseconds, to about ten seconds; what shows it changes by itself. */
export const now = readonly(current);
