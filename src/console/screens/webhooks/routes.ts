import { Webhook } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/webhooks/:number(\\d+)?",
    name: "webhooks",
    component: () => import("./WebhookPage.vue"),
    meta: { nav: { label: "webhooks.nav", icon: Webhook, order: 40 }, needs: "webhooks" },
  },
];
