import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { childOf } from "../nodes.ts";
import { LinkingCodeRefused } from "../port.ts";

/** WhatsApp answers at once. A code is shown without an answer all the same: it may work. */
const ANSWER_MS = 3 * SECOND_MS;
const ANSWERED = "CB:iq,type:result,link_code_companion_reg";
const REFUSED = "CB:iq,type:error";

/**
 * Asks for linking by code. Baileys does not look at the answer, and a code that WhatsApp has refused leads nowhere; it does so when it does
 * not know the name that the client goes by (Baileys#2769). Nothing else is asked for while a number is being linked.
 *
 * @returns the code to type on the phone
 * @throws {LinkingCodeRefused}
 */
export async function requestLinkingCode(
  socket: Pick<WASocket, "ws" | "requestPairingCode">,
  time: Pick<Time, "within">,
  number: string,
): Promise<string> {
  const { ws } = socket;
  let refused: LinkingCodeRefused | null = null;
  let settle!: () => void;
  const answered = new Promise<void>((resolve) => (settle = resolve));
  const onRefused = (node: BinaryNode): void => {
    refused = new LinkingCodeRefused(Number(childOf(node, "error")?.attrs.code) || 0);
    settle();
  };
  ws.on(ANSWERED, settle);
  ws.on(REFUSED, onRefused);
  try {
    const code = await socket.requestPairingCode(number);
    await time.within(ANSWER_MS, answered);
    if (refused !== null) throw refused;
    return code;
  } finally {
    ws.off(ANSWERED, settle);
    ws.off(REFUSED, onRefused);
  }
}
