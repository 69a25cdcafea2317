import { Gauge } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/account",
    name: "account",
    component: () => import("./AccountPage.vue"),
    meta: { nav: { label: "account.nav", icon: Gauge, order: 80 } },
  },
];
