import type { proto, WASocket } from "@whiskeysockets/baileys";
import { deviceSent } from "../content/device-sent.ts";
import { pad } from "../content/padding.ts";
import type { Plaintext } from "../signal/encrypt.ts";
import type { Recipients, Target } from "./targets.ts";

/**
 * What is encrypted for whom: first the own devices, which get the message wrapped, then the recipient's.
 *
 * @param encoded protobuf of the message, without padding
 */
export function plaintextsFor(
  { signalRepository }: Pick<WASocket, "signalRepository">,
  { jid, theirs, own }: Recipients,
  message: proto.IMessage,
  encoded: Uint8Array,
): Plaintext[] {
  const plaintextFor =
    (bytes: Uint8Array) =>
    ({ session }: Target): Plaintext => ({
      address: signalRepository.jidToSignalProtocolAddress(session),
      content: pad(bytes),
    });
  const wrapped = own.length > 0 ? deviceSent(jid, encoded, message) : encoded;
  return [...own.map(plaintextFor(wrapped)), ...theirs.map(plaintextFor(encoded))];
}
