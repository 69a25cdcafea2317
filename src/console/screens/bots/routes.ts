import { Bot } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/bots/fork",
    name: "fork",
    component: withTexts("bots", () => import("./ForkPage.vue")),
    meta: { needs: "bots", title: "bots.fork.title" },
  },
  {
    path: "/bots/:number(\\d+)?",
    name: "bots",
    component: withTexts("bots", () => import("./BotsPage.vue")),
    meta: { nav: { label: "common.bots", icon: Bot, order: 30 }, needs: "bots" },
  },
];
