import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/welcome",
    name: "welcome",
    component: () => import("./WelcomePage.vue"),
    meta: { account: false, title: "welcome.title", addsNumbers: true },
  },
];
