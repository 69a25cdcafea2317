import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { childOf } from "../nodes.ts";

/** Stands where a reference would, and is never shown. */
const WAITING = "wait";
/** Baileys shows a reference for 20 s: these last for the ten minutes that an assertion may take. */
const WAITING_REFS = 31;

/**
 * Baileys ends a connection when its last QR has been shown, after about 160 s; an assertion may take ten minutes. It is given
 * references that mean "go on waiting": whoever follows the connection ends it at the first of them, unless it has a reason to wait.
 */
export function addWaitingRefs({ ws }: Pick<WASocket, "ws">): void {
  ws.prependListener("CB:iq,type:set,pair-device", (stanza: BinaryNode) => {
    const pairing = childOf(stanza, "pair-device");
    if (!Array.isArray(pairing?.content)) return;
    const waiting = { tag: "ref", attrs: {}, content: Buffer.from(WAITING) };
    pairing.content = [...pairing.content, ...Array.from({ length: WAITING_REFS }, () => waiting)];
  });
}

/** Whether a QR text is none, see `addWaitingRefs`. */
export const isWaitingRef = (qr: string): boolean => qr.includes(`#${WAITING},`);
