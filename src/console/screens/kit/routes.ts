import type { ScreenRoute } from "../../app/screen.ts";

/** All parts on one page: in development alone, and in no build. */
export const routes: ScreenRoute[] = import.meta.env.DEV
  ? [
      {
        path: "/kit",
        name: "kit",
        component: () => import("./KitPage.vue"),
        meta: { public: true, bare: true },
      },
    ]
  : [];
