import type { Store } from "../../store/store.ts";
import type { Place } from "../chats/incoming.ts";
import { DEVICE } from "../gateway/run.ts";
import type { Answered } from "../chats/stubs.ts";
import { storyOf } from "./record.ts";
import { readConversation } from "../../path/happened.ts";
import type { OutsideAnswers, Story } from "./story.ts";

const MOST_MESSAGES = 10_000;
/** Whoever writes in a test without a name of its own. */
const USUAL = { person: "Ana", bots: ["bot"] };

/** What happened in one chat of a test, and what the network answered meanwhile. */
export async function storyOfTest(
  store: Store,
  { chat, contact, group }: Place,
  { title, answered }: { title: string; answered: readonly Answered[] },
): Promise<Story> {
  const span = { deviceId: DEVICE, chats: [chat], since: 0, limit: MOST_MESSAGES };
  const happened = await readConversation(store, span);
  const telling = { shortestPauseMs: 1000, isGroup: group !== undefined };
  const { bots, ...told } = storyOf(happened, telling, title);
  return {
    ...told,
    bots: bots.join() === USUAL.bots.join() ? [] : bots,
    ...(contact.name !== USUAL.person && group === undefined && { person: contact.name }),
    ...(group && { group: { name: group.name, members: [...group.members] } }),
    outside: await outsideOf(answered),
  };
}

/** By address and method, in order. */
async function outsideOf(answered: readonly Answered[]): Promise<OutsideAnswers[]> {
  const outside = new Map<string, OutsideAnswers>();
  for (const { method, url, status, body } of answered) {
    const key = `${method} ${url}`;
    const known = outside.get(key) ?? { url, method, answers: [] };
    known.answers.push(answerOf(status, await body));
    outside.set(key, known);
  }
  return [...outside.values()];
}

function answerOf(status: number, text: string): unknown {
  const body = plainOf(text);
  const looksLikeStatus = typeof body === "object" && body !== null && "status" in body;
  return status === 200 && !looksLikeStatus ? body : { status, body };
}

function plainOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
