import { Bot } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/bots/fork",
    name: "fork",
    component: () => import("./ForkPage.vue"),
    meta: { needs: "bots", title: "bots.fork.title" },
  },
  {
    path: "/bots/:number(\\d+)?",
    name: "bots",
    component: () => import("./BotsPage.vue"),
    meta: { nav: { label: "bots.nav", icon: Bot, order: 30 }, needs: "bots" },
  },
];
