import { Webhook } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/webhooks/:number(\\d+)?",
    name: "webhooks",
    component: withTexts("webhooks", () => import("./WebhookPage.vue")),
    meta: { nav: { label: "common.webhooks", icon: Webhook, order: 40 }, needs: "webhooks" },
  },
];
