import { Users } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/groups/:number?",
    name: "groups",
    component: withTexts("groups", () => import("./GroupsPage.vue")),
    meta: { nav: { label: "common.groups", icon: Users, order: 55 }, needs: "groups" },
  },
  {
    path: "/groups/:number/:group",
    name: "group",
    component: withTexts("groups", () => import("./GroupPage.vue")),
    meta: { needs: "groups", title: "groups.title" },
  },
];
