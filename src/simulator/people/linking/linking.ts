import type { Random } from "../../random.ts";
import { type BinaryNode, bytes, child, element, text } from "../../wire/nodes.ts";
import { sealForCompanion, signByAccount, signKeyIndexes } from "./device-identity.ts";
import { iq } from "../directory.ts";
import { NUMBERS, deviceJid, readUserJid } from "../jids.ts";
import type { PhoneWorld } from "../link.ts";
import { WrongCode, answerHello, openKeyBundle } from "./linking-code.ts";
import { NoteBox } from "./note-box.ts";
import type { ScannedSecrets } from "./passkey.ts";
import { createPasskeyCeremony, type PasskeyCeremony } from "./passkey-ceremony.ts";
import type { SimulatedOwner } from "../people.ts";
import type { Phone } from "../phone.ts";

/** How long the phone waits for the other side of a linking by code, in milliseconds. */
const CODE_WAIT_MS = 20_000;

/** The element that identifies one linking by code, from start to finish. */
const REF = "link_code_pairing_ref";

/** What linking takes of its owner. */
interface Needs {
  world: PhoneWorld;
  number: string;
  /** The owner's stream. */
  random(): Random;
  /** The owner's phone, awake. */
  phone(): Promise<Phone>;
}

/** Linking and unlinking of companions, on the owner's phone. */
export interface Linking extends Pick<
  SimulatedOwner,
  "scan" | "enterPairingCode" | "passkeyCode" | "removeCompanion"
> {
  /** A notification may be the other side of a linking by code. */
  onArrival(notification: BinaryNode): void;
}

/** The linking side of a phone that has linked nothing yet. */
export function createLinking(needs: Needs): Linking {
  const codes = new NoteBox<BinaryNode>(needs.world.time);
  let lastKeyIndex = 0;
  const ceremony = createPasskeyCeremony(needs);
  const parts: Parts = { ...needs, codes, ceremony, nextKeyIndex: () => ++lastKeyIndex };
  return {
    onArrival(notification) {
      const linkCode = child(notification, "link_code_companion_reg");
      if (linkCode) codes.put(linkCode);
      ceremony.onArrival(notification);
    },
    async scan(qrText) {
      const [ref, noiseKey, identity, advSecret] = (qrText.split("#").at(-1) ?? "").split(",");
      if (!ref || !noiseKey || !identity || !advSecret) {
        throw new Error("This is not the QR text of a companion: it needs ref, two keys and a secret.");
      }
      const keys = [noiseKey, identity, advSecret].map((base64) => Buffer.from(base64, "base64"));
      return await link(parts, ref, { noiseKey: keys[0]!, identity: keys[1]!, advSecret: keys[2]! });
    },
    passkeyCode: ceremony.code,
    enterPairingCode: (code) => enterCode(parts, code),
    async removeCompanion(device) {
      const { state } = await needs.phone();
      const jid = deviceJid({ user: needs.number, server: NUMBERS, device });
      const removal = element("remove-companion-device", { jid, reason: "user_initiated" });
      const answer = await state.query(iq("md", [removal], "set"));
      checkAnswer(answer, `removing companion ${device}`, needs.number);
    },
  };
}

interface Parts extends Needs {
  codes: NoteBox<BinaryNode>;
  ceremony: PasskeyCeremony;
  nextKeyIndex(): number;
}

async function enterCode(parts: Parts, code: string): Promise<{ device: number }> {
  await parts.phone();
  let hello = await linkCode(parts, "companion_hello");
  for (;;) {
    try {
      return await linkByCode(parts, code, hello);
    } catch (error) {
      // The companion may have asked again in the meantime: the code is then for its newer request.
      const newer = parts.codes.takeNow(({ attrs }) => attrs.stage === "companion_hello");
      if (!(error instanceof WrongCode) || !newer) throw error;
      hello = newer;
    }
  }
}

async function linkByCode(parts: Parts, code: string, hello: BinaryNode): Promise<{ device: number }> {
  const { signal, query } = (await parts.phone()).state;
  const ref = text(child(hello, REF)) ?? "";
  const wrapped = content(hello, "link_code_pairing_wrapped_companion_ephemeral_pub");
  const exchange = await answerHello(code, wrapped, parts.random().fork(`pairing ${ref}`));
  const answer = element("link_code_companion_reg", { stage: "primary_hello" }, [
    element("link_code_pairing_wrapped_primary_ephemeral_pub", {}, exchange.wrapped),
    element("primary_identity_pub", {}, signal.identity.public),
    element(REF, {}, Buffer.from(ref)),
  ]);
  checkAnswer(await query(iq("md", [answer], "set")), "answering the companion", parts.number);
  const finish = await linkCode(parts, "companion_finish", ref);
  const bundle = content(finish, "link_code_pairing_wrapped_key_bundle");
  const announced = content(finish, "companion_identity_public");
  const { companion, advSecret } = openKeyBundle(exchange, bundle, announced, signal.identity);
  const noiseKey = content(hello, "companion_server_auth_key_pub");
  return await link(parts, ref, { noiseKey, identity: companion, advSecret });
}

/** Signs the companion's identity and has the service link it, after the step with the passkey if the account has one. */
async function link(parts: Parts, ref: string, shown: ScannedSecrets): Promise<{ device: number }> {
  const answer = await requestLink(parts, ref, shown);
  if (!child(answer, "passkey")) return deviceIn(answer);
  const proven = await parts.ceremony.run(shown);
  const secrets = { ...shown, advSecret: proven.advSecret };
  return deviceIn(await requestLink(parts, proven.ref, secrets, { passkey: "1" }));
}

const deviceIn = (answer: BinaryNode): { device: number } => ({
  device: readUserJid(child(answer, "device")?.attrs.jid ?? "").device,
});

async function requestLink(
  parts: Parts,
  ref: string,
  { noiseKey, identity, advSecret }: ScannedSecrets,
  attrs: Record<string, string> = {},
): Promise<BinaryNode> {
  const { signal, query } = (await parts.phone()).state;
  const keyIndex = parts.nextKeyIndex();
  const rawId = parts
    .random()
    .fork(`linking ${keyIndex}`)
    .integer(2 ** 31);
  const timestamp = Math.floor(parts.world.time.now() / 1000);
  // Indexes of companions that are gone stay good: none is given twice.
  const validIndexes = Array.from({ length: keyIndex }, (_, index) => index + 1);
  const signed = signByAccount(signal.identity, identity, { rawId, timestamp, keyIndex });
  const request = element("pair-device", attrs, [
    element("ref", {}, Buffer.from(ref)),
    element("pub-key", {}, noiseKey),
    element("device-identity", {}, sealForCompanion(signed, advSecret)),
    element(
      "key-index-list",
      { ts: String(timestamp) },
      signKeyIndexes(signal.identity, { rawId, timestamp, currentIndex: keyIndex, validIndexes }),
    ),
  ]);
  const answer = await query(iq("md", [request], "set"));
  checkAnswer(answer, "linking", parts.number);
  return answer;
}

/** The newest message of a linking by code; it is used once. */
async function linkCode({ codes, number }: Parts, stage: string, ref?: string): Promise<BinaryNode> {
  const node = await codes.take(
    (note) => note.attrs.stage === stage && (ref === undefined || text(child(note, REF)) === ref),
    CODE_WAIT_MS,
  );
  if (!node) throw new Error(`No companion of ${number} waits for a pairing code (${stage}).`);
  return node;
}

/** @throws when the service has refused */
function checkAnswer(answer: BinaryNode, what: string, number: string): void {
  if (answer.attrs.type !== "error") return;
  const { code, text: reason } = child(answer, "error")?.attrs ?? {};
  throw new Error(`WhatsApp refused ${what} with ${code} (${reason}) for ${number}.`);
}

function content(node: BinaryNode, tag: string): Uint8Array {
  return bytes(child(node, tag)) ?? new Uint8Array();
}
