import type { LIDMapping } from "@whiskeysockets/baileys";
import { HOUR_MS, SECOND_MS, type Time } from "../../model/time.ts";
import { userOf } from "../jids.ts";
import { createLru } from "../../model/lru.ts";

/** Nobody has a LID today and none tomorrow, but an hour of asking at every message is enough. */
const NONE_MS = HOUR_MS;
/** Silence says nothing of anybody. It is only not waited for again at once: messages that come in stand behind it. */
const SILENCE_MS = 30 * SECOND_MS;
const PATIENCE_MS = 8 * SECOND_MS;
const REMEMBERED = 5_000;

const late = (): Error => new Error("WhatsApp did not answer the query for LIDs.");

/** Baileys' question for the LIDs of numbers: those that are found. */
type LookUp = (jids: string[]) => Promise<LIDMapping[]>;

/**
 * Asks for the LIDs of numbers, and remembers who has none: Baileys would ask at every message.
 *
 * @param ask null when WhatsApp has not answered
 * @returns never rejects; who has none, and who was not answered about, is left out
 */
export function createLidQuestions(
  time: Pick<Time, "monotonic" | "deadline">,
  ask: (jids: string[]) => Promise<LIDMapping[] | null>,
): LookUp {
  /** Until when somebody is not asked about, monotonic. */
  const notAsked = createLru<string, number>(REMEMBERED);

  return async (jids) => {
    const now = time.monotonic();
    const wanted = jids.filter((jid) => (notAsked.get(jid) ?? now) <= now);
    if (wanted.length === 0) return [];
    const found = await time.deadline(PATIENCE_MS, ask(wanted), late).catch(() => null);
    const users = new Set(found?.map(({ pn }) => userOf(pn)));
    const until = time.monotonic() + (found === null ? SILENCE_MS : NONE_MS);
    for (const jid of wanted) if (!users.has(userOf(jid))) notAsked.set(jid, until);
    return found ?? [];
  };
}
