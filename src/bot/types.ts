export type * from "./types/bot.ts";
export type * from "./types/content.ts";
export type * from "./types/context.ts";
export type * from "./types/dialogue.ts";
export type * from "./types/message.ts";
export type * from "./types/routes.ts";
export type * from "./types/store.ts";
export type * from "./types/timer.ts";
