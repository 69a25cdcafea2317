export type * from "./types/bot.ts";
export type * from "./types/context.ts";
export type * from "./types/dialogue.ts";
export type * from "./types/message.ts";
export type * from "./types/routes.ts";
export type * from "./types/store.ts";
