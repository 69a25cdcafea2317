import { ContactRound } from "@lucide/vue";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/contacts/:number?",
    name: "contacts",
    component: () => import("./ContactsPage.vue"),
    meta: { nav: { label: "contacts.nav", icon: ContactRound, order: 54 }, needs: "lid" },
  },
  {
    path: "/contacts/:number/:contact",
    name: "contact",
    component: () => import("./ContactPage.vue"),
    meta: { needs: "lid", title: "contacts.title" },
  },
];
