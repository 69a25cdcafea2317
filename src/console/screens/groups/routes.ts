import { Users } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/groups/:number?",
    name: "groups",
    component: () => import("./GroupsPage.vue"),
    meta: { nav: { label: "groups.nav", icon: Users, order: 55 }, needs: "groups" },
  },
  {
    path: "/groups/:number/:group",
    name: "group",
    component: () => import("./GroupPage.vue"),
    meta: { needs: "groups", title: "groups.title" },
  },
];
