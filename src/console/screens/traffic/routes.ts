import { ChartNoAxesColumn } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/traffic",
    name: "traffic",
    component: () => import("./TrafficPage.vue"),
    meta: { nav: { label: "traffic.nav", icon: ChartNoAxesColumn, order: 70 }, needs: "messages" },
  },
];
