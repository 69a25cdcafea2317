import { Gauge } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/account",
    name: "account",
    component: withTexts("changes", () => import("./AccountPage.vue")),
    meta: { nav: { label: "account.nav", icon: Gauge, order: 80 } },
  },
];
