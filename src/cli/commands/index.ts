import { defineCommand, type CommandDef } from "citty";

/** Every command of `parley`; each is loaded when it is called. */
export const parley: CommandDef = defineCommand({
  meta: { name: "parley", description: "Accounts, keys, numbers and bots of the running gateway" },
  subCommands: {
    start: () => import("./start.ts").then((module) => module.default),
    link: () => import("./link.ts").then((module) => module.default),
    accounts: () => import("./accounts.ts").then((module) => module.default),
    keys: () => import("./keys.ts").then((module) => module.default),
    alerts: () => import("./alerts.ts").then((module) => module.default),
    audit: () => import("./audit.ts").then((module) => module.default),
    devices: () => import("./devices.ts").then((module) => module.default),
    chats: () => import("./chats.ts").then((module) => module.default),
    contacts: () => import("./contacts.ts").then((module) => module.default),
    replay: () => import("./replay.ts").then((module) => module.default),
    bots: () => import("./bots.ts").then((module) => module.default),
    why: () => import("./why.ts").then((module) => module.default),
    backup: () => import("./backup.ts").then((module) => module.default),
    restore: () => import("./restore.ts").then((module) => module.default),
    "rotate-key": () => import("./rotate-key.ts").then((module) => module.default),
    "move-database": () => import("./move-database.ts").then((module) => module.default),
    doctor: () => import("./doctor.ts").then((module) => module.default),
    completion: () => import("./completion.ts").then((module) => module.completionOf(parley)),
  },
});
