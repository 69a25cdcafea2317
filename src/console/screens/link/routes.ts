import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/link",
    name: "link",
    component: () => import("./LinkPage.vue"),
    meta: { public: true, bare: true, title: "link.title" },
  },
];
