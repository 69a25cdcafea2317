import { shallowRef, type Component } from "vue";
import type { RouteLocationNormalized } from "vue-router";
import { router } from "../app/router.ts";
import { useSession } from "../data/session.ts";

const { session } = useSession();

/** What stands around screens, once it is loaded: who signs in does not wait for it. */
export const shell = shallowRef<Component | null>(null);

async function loadShell(): Promise<void> {
  shell.value ??= (await import("./Shell.vue")).default;
}
const isWithin = ({ meta }: RouteLocationNormalized): boolean => meta.bare !== true && session.value !== null;

// It is on its way while the screen is, and a screen is shown within it or not at all: what fails here is told as a screen's.
router.beforeEach((to) => {
  if (isWithin(to)) void loadShell().catch(() => undefined);
});
router.beforeResolve(async (to) => {
  if (isWithin(to)) await loadShell();
});
