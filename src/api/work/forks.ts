import type { z } from "zod";
import { authorize } from "../../accounts/authorize.ts";
import type { Caller } from "../../accounts/caller.ts";
import type { ForkAnswer, ForkTurn } from "../../path/fork.ts";
import type { forkConversation } from "../endpoints/bots.ts";
import { findChat, findSender } from "../access/senders.ts";
import type { App } from "../services.ts";

/**
 * Tells a stored conversation again to the bots as their files are now.
 *
 * @throws PERMISSION_DENIED when the key may not read messages; SENDER_NOT_FOUND, NOT_FOUND, RECIPIENT_NOT_ALLOWED, INVALID_PARAMETERS
 */
export async function forkStored(
  app: App,
  caller: Caller,
  input: z.output<(typeof forkConversation)["input"]>,
) {
  // What was written stands in the answer.
  authorize(caller, "messages");
  const device = findSender(app, caller, input.sender);
  const { jid } = await findChat(app, caller, device, input.chat);
  const chats = await app.conversations.keysOf(device.id, jid);
  const forked = await app.forks.run({
    deviceId: device.id,
    chats,
    message: input.message ?? null,
    last: input.last,
    more: input.says,
    bots: input.bots ?? null,
  });
  const turns = forked.turns.map((turn) => ({ ...turn, same: isSame(turn) }));
  return { ...forked, turns, differences: turns.filter(({ same }) => !same).length };
}

const asText = (answers: ForkAnswer[]): string => answers.map(({ who, text }) => `${who} ${text}`).join("\0");

/** What was said in the sandbox alone, or was not reached, is no difference. */
function isSame({ before, now }: ForkTurn): boolean {
  if (before === null || now === null) return true;
  return asText(before) === asText(now);
}
