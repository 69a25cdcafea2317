import { PackageCheck } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/deliveries",
    name: "deliveries",
    component: () => import("./DeliveryList.vue"),
    meta: { nav: { label: "deliveries.nav", icon: PackageCheck, order: 45 }, needs: "webhooks" },
  },
];
