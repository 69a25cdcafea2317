import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/signed-in",
    name: "sessions",
    component: () => import("./SessionList.vue"),
    meta: { account: false, title: "sessions.title" },
  },
];
