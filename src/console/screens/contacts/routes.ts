import { ContactRound } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

export const routes: ScreenRoute[] = [
  {
    path: "/contacts/:number?",
    name: "contacts",
    component: withTexts("contacts", () => import("./ContactsPage.vue")),
    meta: { nav: { label: "common.contacts", icon: ContactRound, order: 54 }, needs: "lid" },
  },
  {
    path: "/contacts/:number/:contact",
    name: "contact",
    component: withTexts("contacts", () => import("./ContactPage.vue")),
    meta: { needs: "lid", title: "contacts.title" },
  },
];
