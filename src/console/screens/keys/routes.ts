import { KeyRound } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/keys",
    name: "keys",
    component: () => import("./KeyList.vue"),
    meta: { nav: { label: "keys.nav", icon: KeyRound, order: 60 }, needs: "keys" },
  },
];
