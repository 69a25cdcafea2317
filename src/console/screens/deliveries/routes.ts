import { PackageCheck } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/deliveries",
    name: "deliveries",
    component: withTexts("webhooks", () => import("./DeliveryList.vue")),
    meta: { nav: { label: "deliveries.nav", icon: PackageCheck, order: 45 }, needs: "webhooks" },
  },
];
