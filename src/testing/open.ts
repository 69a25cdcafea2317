import { milliseconds } from "../bot/duration.ts";
import type { CrashPlan } from "./gateway/life.ts";
import type { MadeCall } from "./network/network.ts";
import type { TestBots, TestChatOptions } from "./options.ts";
import { createPeople } from "./chats/people.ts";
import { buildStage } from "./gateway/stage.ts";
import type { TestChat } from "./types.ts";

/** A chat, and what its bots asked of the network. */
interface OpenChat {
  chat: TestChat;
  made(): readonly MadeCall[];
}

/** `createTestChat`, with a plan for where to be killed. */
export async function openTestChat(
  bots: TestBots,
  options: TestChatOptions,
  plan: CrashPlan,
): Promise<OpenChat> {
  const stage = await buildStage(bots, options, plan);
  const { world, stubs, clock, rooms, close } = stage;
  const people = createPeople(stage, rooms);
  const chat: TestChat = {
    ...people.as({ name: "Ana", ...options.contact }),
    ...people,
    async parallel(count, script) {
      const all = Array.from({ length: count }, (_, index) => people.as(`person ${index + 1}`));
      await Promise.all(all.map((chat, index) => script(chat, index)));
      return all;
    },
    stub: (url, answer) => stubs.add(url, answer),
    calls: () => stubs.calls.map(({ method, url, body }) => ({ method, url, body })),
    kill: world.kill,
    deploy: stage.deploy,
    advance: async (duration) => world.advance(milliseconds(duration, "chat.advance()")),
    now: () => new Date(clock.now()),
    transcripts: () => Object.fromEntries([...rooms.all()].map(([chat, { lines }]) => [chat, [...lines]])),
    settle: () => world.settle(null),
    close,
    [Symbol.asyncDispose]: close,
  };
  return { chat, made: () => stubs.calls };
}
