import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { RateOverlimit } from "../port.ts";

const TOO_MANY_REQUESTS = 429;

/** WhatsApp's code in an answer that refuses; 0 when it has none. */
export function refusalCode(error: unknown): number {
  const { data, output } = error as { data?: unknown; output?: { statusCode?: number } };
  return typeof data === "number" ? data : (output?.statusCode ?? 0);
}

/** @throws {RateOverlimit} when WhatsApp wants to be asked less often */
export async function limited<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw refusalCode(error) === TOO_MANY_REQUESTS ? new RateOverlimit() : error;
  }
}

/**
 * Asks about people what somebody at a screen wants to know.
 *
 * @param query what is asked of each of the users
 * @throws {RateOverlimit}
 */
export async function askAboutUsers(
  socket: Pick<WASocket, "query" | "generateMessageTag">,
  query: BinaryNode[],
  users: BinaryNode[],
): Promise<BinaryNode | undefined> {
  const parts = [
    { tag: "query", attrs: {}, content: query },
    { tag: "list", attrs: {}, content: users },
  ];
  const sid = socket.generateMessageTag();
  const attrs = { sid, mode: "query", last: "true", index: "0", context: "interactive" };
  const asked = socket.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "get", xmlns: "usync" },
    content: [{ tag: "usync", attrs, content: parts }],
  });
  return limited(asked as Promise<BinaryNode | undefined>);
}
