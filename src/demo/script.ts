import type { GatewayClient } from "../cli/gateway-client.ts";
import type { Conversation, Line, Speaker } from "./conversation.ts";
import { receiverAnswer } from "./receiver.ts";
import { CONTACT, NUMBER } from "./stage.ts";

/** One turn of the demo: somebody writes, and something must arrive at the contact. */
export interface Turn {
  /** The contact's text, or null when the turn is a send by REST. */
  says: string | null;
  by: Speaker["kind"];
  /** What must arrive, in this order: exact texts, or what they must look like. */
  expects: (string | RegExp)[];
}

const QUESTION = "Do you deliver on Sundays?";
const REST_TEXT = "Your order is on its way.";

/** A bot, another bot's menu, the webhook for what no bot knows, and a message that another system sends. */
export const SCRIPT: Turn[] = [
  { says: "hi", by: "bot", expects: [`Hello ${CONTACT.name}!`, /^What can we do for you\?/] },
  { says: "menu", by: "bot", expects: [/^What can we do for you\?/] },
  { says: QUESTION, by: "webhook", expects: [receiverAnswer(QUESTION)] },
  { says: null, by: "api", expects: [REST_TEXT] },
];

interface PlayOptions {
  conversation: Conversation;
  gateway: GatewayClient;
  /** How long one answer may take. Default 20,000 ms. */
  patienceMs?: number;
  /** Called before each turn, to give a reader time. */
  beforeTurn?(): Promise<void>;
}

/**
 * Plays the turns one after the other; a turn that fails does not stop the next.
 *
 * @returns what did not arrive, one sentence each; empty when everything did
 */
export async function play(turns: Turn[], options: PlayOptions): Promise<string[]> {
  const missing: string[] = [];
  for (const turn of turns) {
    await options.beforeTurn?.();
    await begin(turn, options);
    for (const expected of turn.expects) {
      const wanted = (line: Line) => line.speaker.kind === turn.by && fits(line.text, expected);
      const heard = await options.conversation.hear(wanted, options.patienceMs ?? 20_000);
      if (!heard) missing.push(describe(turn, expected));
    }
  }
  return missing;
}

async function begin(turn: Turn, options: PlayOptions): Promise<void> {
  if (turn.says !== null) return options.conversation.say(turn.says);
  const body = { sender: NUMBER, number: CONTACT.number, message: turn.expects.join("\n") };
  await options.gateway.post("/send-message", body);
}

function fits(text: string, expected: string | RegExp): boolean {
  return typeof expected === "string" ? text === expected : expected.test(text);
}

function describe(turn: Turn, expected: string | RegExp): string {
  const names = {
    bot: "a bot",
    webhook: "the webhook",
    api: "REST",
    contact: CONTACT.name,
    unknown: "the number",
  };
  const text = typeof expected === "string" ? `“${expected}”` : `An answer like ${expected}`;
  const cause = turn.says === null ? "" : ` to “${turn.says}”`;
  return `${text} from ${names[turn.by]}${cause} did not arrive at ${CONTACT.name}.`;
}
