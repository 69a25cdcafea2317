import { House } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/home",
    name: "home",
    component: () => import("./HomePage.vue"),
    meta: { nav: { label: "home.nav", icon: House, order: 5 }, needs: ["devices", "messages", "webhooks"] },
  },
];
