import { mannerFields, type MannerInput } from "../../model/content/manner.ts";

/** How a reply is to be said, beside what is in it. */
export interface ReplyManner extends MannerInput {
  /** Id of the message of the chat that it quotes; missing: none, or the one that the event is about. */
  quote?: string;
}

/** Without these a message would say something else than was meant: what is wrong with one of them keeps it back. */
const MEANT: ReadonlySet<string> = new Set(["send_at", "expires", "view_once"]);
const FIELDS = Object.entries(mannerFields);

/**
 * Reads what a reply says beside its content, by the rules of the sends.
 *
 * @param name of the reply, for what is recorded
 * @returns `ignored`: what is wrong and left out; `problem`: why nothing may be sent
 */
export function mannerIn(
  value: Record<string, unknown>,
  name: string,
): { manner: ReplyManner; ignored: string[]; problem: string | null } {
  const manner: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [field, schema] of FIELDS) {
    const given = value[field];
    if (given === undefined || given === null) continue;
    const read = schema.safeParse(given);
    if (read.success) manner[field] = read.data;
    else if (MEANT.has(field)) return { manner: {}, ignored, problem: `${name}: ${field} cannot be read` };
    else ignored.push(`${name}: ${field} cannot be read`);
  }
  if (typeof value.quote === "string" && value.quote.trim() !== "") manner["quote"] = value.quote.trim();
  return { manner: manner as ReplyManner, ignored, problem: null };
}
