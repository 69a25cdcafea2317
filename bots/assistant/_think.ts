import { OutboundError, type PastMessage } from "parley";
import type { Config, Ctx } from "./_config.ts";
import { createReader, type Said } from "./_stream.ts";
import { describeTools, readCall } from "./_tools.ts";
import { writeDown } from "./_voice.ts";

/** What came of asking the model. `requests`: how often it was asked. */
export type Thought = { requests: number } & (
  | { text: string; tool?: undefined; input?: undefined }
  | { text: string; tool: string; input: Record<string, unknown> }
  /** Why there is no answer, in a word. */
  | { text?: undefined; failed: string }
);

interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  tool_calls?: object[];
  tool_call_id?: string;
}

/** A call that is refused is said to the model, so often. */
const MOST_ROUNDS = 3;
/** Of one message of the chat. */
const LONGEST_TEXT = 4_000;

/** Asks the model about what stands in the chat. It never throws: what goes wrong is a word for the owner. */
export async function think(ctx: Ctx, signal: AbortSignal): Promise<Thought> {
  let requests = 0;
  try {
    const heard = ctx.message.type === "voice" ? await writeDown(ctx, signal) : null;
    const messages: ChatMessage[] = [
      { role: "system", content: ctx.config.instructions },
      ...asTurns(ctx, await ctx.history(ctx.config.messages), heard),
    ];
    for (; requests < MOST_ROUNDS;) {
      requests++;
      const { text, calls } = await askModel(ctx, messages, signal);
      const [call] = calls;
      if (call === undefined) return text === "" ? { requests, failed: "empty answer" } : { requests, text };
      const chosen = readCall(ctx.config, call);
      if ("tool" in chosen) return { requests, text, ...chosen };
      const id = call.id || "call";
      const said = { id, type: "function", function: { name: call.name, arguments: call.arguments } };
      messages.push({ role: "assistant", content: text, tool_calls: [said] });
      messages.push({ role: "tool", tool_call_id: id, content: chosen.refused });
    }
    return { requests, failed: "wrong tool calls" };
  } catch (error) {
    if (signal.aborted) throw error;
    return { requests, failed: wordFor(error) };
  }
}

/** Nothing of an answer, an address or a key is in it. */
function wordFor(error: unknown): string {
  if (error instanceof OutboundError) return error.problem;
  return error instanceof TypeError && error.message.length < 30 ? error.message : "unusable answer";
}

/** Only this chat, by itself: the other side's words as the user's, all others' as the assistant's. */
function asTurns(ctx: Ctx, past: readonly PastMessage[], heard: string | null): ChatMessage[] {
  const turns: ChatMessage[] = [];
  const add = (role: "user" | "assistant", content: string): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content += `\n${content}`;
    else turns.push({ role, content });
  };
  for (const { id, who, kind, text } of past) {
    const isHeard = id === ctx.message.id && heard !== null;
    const words = isHeard ? heard : kind === "text" ? text : `[${kind}] ${text}`.trim();
    if (words !== "") add(who === "contact" ? "user" : "assistant", words.slice(0, LONGEST_TEXT));
  }
  return turns;
}

/** One request. An answer that breaks off is asked for once more. @throws {TypeError} with a word; OutboundError */
async function askModel(ctx: Ctx, messages: ChatMessage[], signal: AbortSignal): Promise<Said> {
  for (let tries = 1; ; tries++) {
    try {
      const said = await request(ctx, messages, signal);
      if (said.isWhole) return said;
      if (tries === 2) throw new TypeError("broken off");
    } catch (error) {
      const mayTry = error instanceof OutboundError && error.problem === "unreachable";
      if (tries === 2 || !mayTry || signal.aborted) throw error;
    }
  }
}

async function request(ctx: Ctx, messages: ChatMessage[], signal: AbortSignal): Promise<Said> {
  const reader = createReader();
  const { config } = ctx;
  const answer = await ctx.fetch(`${config.url.replace(/\/$/, "")}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${config.key}`, "content-type": "application/json" },
    body: JSON.stringify(bodyOf(config, messages)),
    timeout: config.timeout * 1_000,
    idle: Math.min(config.timeout, 20) * 1_000,
    tries: 2,
    onData: reader.take,
    signal,
  });
  if (!answer.ok) throw new TypeError(`HTTP ${answer.status}`);
  return reader.said();
}

const bodyOf = (config: Config, messages: ChatMessage[]): object => ({
  model: config.model,
  messages,
  tools: describeTools(config),
  max_tokens: config.maxTokens,
  stream: true,
});
