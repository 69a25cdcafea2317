import { chatState } from "../../drizzle/schema.ts";
import type { Answer, Answerer, Asked, StoredMessage } from "../model/answerer.ts";
import { DAY_MS } from "../model/time.ts";
import { defineQuery, nullable } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";

/** Once to each caller, however often they call. */
const TEXT_EVERY_MS = DAY_MS;

const TOLD = defineQuery(
  "SELECT max(call_text_at) AS at FROM chat_state WHERE device_id = ? AND chat IN (?, ?)",
  { at: nullable(chatState.callTextAt) },
);
const TELL = `INSERT INTO chat_state (device_id, chat, call_text_at) VALUES (?, ?, ?)
ON CONFLICT (device_id, chat) DO UPDATE SET call_text_at = excluded.call_text_at`;

const WAS_TOLD: Answer = {
  kind: "pass",
  trail: [{ by: "calls", outcome: "passed", detail: "the caller was told within the last day" }],
};

const IS_PAUSED: Answer = {
  kind: "pass",
  trail: [{ by: "calls", outcome: "not_asked", detail: "takeover" }],
};

/** What answering calls takes. */
interface CallsDeps {
  store: Pick<Store, "readOne" | "now">;
  /** What those are told whose call was rejected; null: nothing. */
  textOf(deviceId: number): string | null;
}

/**
 * Writes to those whose call was rejected. Bots are asked before: one that answers the call itself has answered it. A call to a
 * group is nobody's in particular, and nobody is written to.
 *
 * That somebody was told is stored in the commit that stores the text, and outlives the gateway.
 */
export function createCallAnswerer({ store, textOf }: CallsDeps): Answerer {
  async function wasTold({ deviceId, message }: StoredMessage): Promise<boolean> {
    const { chatKey, lid } = message;
    const row = await store.readOne(TOLD, [deviceId, chatKey, lid ?? chatKey]);
    // A time that is ahead was written by a clock that has been set back since.
    const since = store.now() - (row?.at ?? Number.NEGATIVE_INFINITY);
    return Math.abs(since) < TEXT_EVERY_MS;
  }

  async function answer(stored: StoredMessage, { paused }: Pick<Asked, "paused">): Promise<Answer> {
    const { deviceId, message } = stored;
    const text = message.call?.rejected && message.chatKind === "dm" ? textOf(deviceId) : null;
    if (text === null) return { kind: "pass", trail: [] };
    if (paused) return IS_PAUSED;
    if (await wasTold(stored)) return WAS_TOLD;
    const told: Statement = { sql: TELL, args: [deviceId, message.chatKey, store.now()] };
    return {
      kind: "answer",
      by: "calls",
      route: null,
      replies: [{ jid: message.chat, draft: { kind: "text", text } }],
      trail: [{ by: "calls", outcome: "answered" }],
      statements: [told],
      unnamed: true,
    };
  }

  // Nothing is said of it in the decisions of messages, which are no calls.
  return { name: "calls", ignoresTakeover: true, answer };
}
