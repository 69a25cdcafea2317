import { Activity, Building2, ScrollText, Server } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

const operator = { operator: true, account: false } as const;

export const routes: ScreenRoute[] = [
  {
    path: "/operator",
    name: "operator",
    component: () => import("./OverviewPage.vue"),
    meta: { ...operator, nav: { label: "operator.nav", icon: Server, order: 90 } },
  },
  {
    path: "/operator/numbers",
    name: "operator-numbers",
    component: () => import("./AllNumbers.vue"),
    meta: { ...operator, nav: { label: "operator.numbersNav", icon: Activity, order: 91 } },
  },
  {
    path: "/operator/accounts",
    name: "operator-accounts",
    component: () => import("./AccountList.vue"),
    meta: { ...operator, nav: { label: "operator.accountsNav", icon: Building2, order: 92 } },
  },
  {
    path: "/operator/log",
    name: "operator-log",
    component: withTexts("changes", () => import("./LogPage.vue")),
    meta: { ...operator, nav: { label: "operator.logNav", icon: ScrollText, order: 93 } },
  },
];
