/** `npm run parley -- <command>`: the operator's tool. It speaks HTTP to the running gateway. */

// citty reads NO_COLOR once, when it is loaded, and does not look whether its output is a terminal.
if (!process.stdout.isTTY) process.env["NO_COLOR"] ??= "1";
const { defineCommand, runMain } = await import("citty");

const parley = defineCommand({
  meta: { name: "parley", description: "Accounts, keys, numbers and bots of the running gateway" },
  subCommands: {
    link: () => import("./commands/link.ts").then((module) => module.default),
    accounts: () => import("./commands/accounts.ts").then((module) => module.default),
    keys: () => import("./commands/keys.ts").then((module) => module.default),
    audit: () => import("./commands/audit.ts").then((module) => module.default),
    devices: () => import("./commands/devices.ts").then((module) => module.default),
    replay: () => import("./commands/replay.ts").then((module) => module.default),
    bots: () => import("./commands/bots.ts").then((module) => module.default),
    why: () => import("./commands/why.ts").then((module) => module.default),
    backup: () => import("./commands/backup.ts").then((module) => module.default),
    restore: () => import("./commands/restore.ts").then((module) => module.default),
    "rotate-key": () => import("./commands/rotate-key.ts").then((module) => module.default),
    doctor: () => import("./commands/doctor.ts").then((module) => module.default),
  },
});

await runMain(parley);
