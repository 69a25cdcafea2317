import { MessagesSquare } from "@lucide/vue";
import { withTexts } from "../../app/i18n.ts";
import type { ScreenRoute } from "../../app/screen.ts";

const component = withTexts("chats", () => import("./ChatsScreen.vue"));

export const routes: ScreenRoute[] = [
  {
    path: "/chats",
    name: "chats",
    component,
    meta: {
      nav: { label: "common.chats", short: "common.chatsShort", icon: MessagesSquare, order: 10 },
      needs: "messages",
      fill: true,
    },
  },
  {
    // The third level, a message's way, is part of the address: going back leads to the conversation.
    path: "/chats/:sender(\\d+)/:chat/:message?",
    name: "chat",
    component,
    meta: { needs: "messages", title: "common.chats", fill: true },
  },
];
