import { Smartphone } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/numbers",
    name: "numbers",
    component: () => import("./NumberList.vue"),
    meta: { nav: { label: "numbers.nav", icon: Smartphone, order: 20 }, needs: "devices" },
  },
  {
    path: "/numbers/new",
    name: "add-number",
    component: () => import("./AddNumber.vue"),
    meta: { addsNumbers: true, title: "numbers.addTitle" },
  },
  {
    path: "/numbers/links",
    name: "links",
    component: () => import("./LinksPage.vue"),
    meta: { needs: "devices", title: "numbers.links" },
  },
  {
    path: "/numbers/:number(\\d+)",
    name: "number",
    component: () => import("./NumberPage.vue"),
    meta: { needs: "devices", title: "numbers.nav" },
  },
];
