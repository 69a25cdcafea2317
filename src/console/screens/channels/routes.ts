import { Megaphone } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/channels/:number?",
    name: "channels",
    component: () => import("./ChannelsPage.vue"),
    meta: { nav: { label: "channels.nav", icon: Megaphone, order: 50 }, needs: "channels" },
  },
];
