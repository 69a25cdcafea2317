import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/choose",
    name: "choose",
    component: () => import("./ChooseAccount.vue"),
    meta: { operator: true, title: "choose.title" },
  },
];
