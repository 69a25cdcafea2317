import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/sign-in",
    name: "sign-in",
    component: () => import("./SignIn.vue"),
    meta: { public: true, bare: true, title: "sign-in.title" },
  },
];
