import { expect, it } from "vitest";
import { checkIdleChats, fillIdleChats, idleBot } from "../../bench/idle-chats.ts";
import { DEVICE } from "../outbox/harness.ts";
import { startBots } from "./harness.ts";
import { listeningLog } from "./messages.ts";

it("what the bench stores of many idle chats goes on with its bot, and a look ahead counts each of them once", async () => {
  // More than a page of rows holds, and no whole number of pages.
  const chats = 1_234;
  const bots = await startBots({ bench: idleBot });
  await fillIdleChats(bots.run.store, DEVICE, chats);
  expect(await checkIdleChats(bots.run.store, listeningLog().log)).toMatchObject({
    goOn: chats,
    sessions: chats,
    lost: 0,
  });
});
