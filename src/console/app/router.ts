import { shallowRef } from "vue";
import { createRouter, createWebHistory, type RouteLocationNormalized } from "vue-router";
import { api } from "../data/api.ts";
import { loadSession, may, mayAddNumbers, useSession } from "../data/session.ts";
import type { ScreenMeta, ScreenRoute } from "./screen.ts";

const found = import.meta.glob<ScreenRoute[]>("../screens/*/routes.ts", { eager: true, import: "routes" });

/** Routes of all areas. */
export const screens: ScreenRoute[] = Object.values(found).flat();

const { session, isOperator, account } = useSession();

/** May who is signed in see this screen? */
export function shows(meta: ScreenMeta = {}): boolean {
  if (meta.public) return true;
  if (session.value === null || session.value.kind === "link") return false;
  if (meta.operator) return isOperator.value;
  if (isOperator.value && account.value === null) return meta.account === false;
  if (meta.addsNumbers) return mayAddNumbers();
  return meta.needs === undefined || [meta.needs].flat().some(may);
}

/** Screens with an entry in the navigation that are shown, in their order; `path` without what it may be followed by. */
export const navigation = () =>
  screens
    .filter((screen) => screen.meta?.nav && shows(screen.meta))
    .map(({ path, meta }) => ({ path: path.split("/:")[0]!, meta }))
    .toSorted((a, b) => a.meta!.nav!.order - b.meta!.nav!.order);

/** Where one begins. */
export function home(): string {
  if (session.value?.kind === "link") return "/link";
  if (isOperator.value && account.value === null) return "/choose";
  return navigation()[0]?.path ?? "/signed-in";
}

/** Where one begins: where nothing is set up yet, with what is to be done first. */
async function beginning(): Promise<string> {
  const path = home();
  const first = path === "/choose" ? "/admin/accounts?limit=1" : "/devices";
  if (path === "/link" || (first === "/devices" && !mayAddNumbers())) return path;
  try {
    const { data } = await api<{ data: unknown[] }>({ method: "GET", path: first });
    return data.length === 0 ? "/welcome" : path;
  } catch {
    // The screen itself says what is wrong.
    return path;
  }
}

export const router = createRouter({
  history: createWebHistory("/console/"),
  scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
  routes: [
    // Where it leads is known once it is known who is signed in.
    { path: "/", name: "root", component: () => import("./NoSuchPage.vue"), meta: {} },
    ...screens,
    {
      path: "/:rest(.*)*",
      name: "nowhere",
      component: () => import("./NoSuchPage.vue"),
      meta: { account: false },
    },
  ],
});

/** What keeps the first screen from being shown: the gateway did not say who is signed in. */
export const trouble = shallowRef<unknown>(null);

/** Who is not signed in signs in and comes back; who may not see a screen is led to where they begin. */
async function wayTo(to: RouteLocationNormalized) {
  if (to.meta.public) return true;
  try {
    await loadSession();
    trouble.value = null;
  } catch (error) {
    trouble.value = error;
    return false;
  }
  if (session.value === null) return { name: "sign-in", query: to.path === "/" ? {} : { to: to.fullPath } };
  return (to.name !== "root" && shows(to.meta)) || beginning();
}

/** Where one goes now. */
let latest: RouteLocationNormalized | null = null;
router.beforeEach(async (to) => {
  latest = to;
  const way = await wayTo(to);
  // The router follows a redirect also when somebody has gone elsewhere since.
  return latest === to ? way : false;
});

/** A page that stood open while the gateway was updated asks for files of before: it is loaded anew, once. */
const STOOD_OPEN_MS = 10_000;
router.onError((error: unknown, to) => {
  const isGone = error instanceof TypeError && error.message.includes("module");
  if (isGone && performance.now() > STOOD_OPEN_MS) location.assign(router.resolve(to).href);
});
