import type { Random } from "../../random.ts";
import { type BinaryNode, bytes, child, element } from "../../wire/nodes.ts";
import { iq } from "../directory.ts";
import type { PhoneWorld } from "../link.ts";
import { NoteBox } from "./note-box.ts";
import {
  codeToCompare,
  openPairingRequest,
  openPrologue,
  primaryIdentity,
  type ScannedSecrets,
} from "./passkey.ts";
import type { Phone } from "../phone.ts";

/** How long the phone waits for each step of its companion, in milliseconds. */
const STEP_MS = 600_000;
const CODE_WAIT_MS = 30_000;

interface Needs {
  world: PhoneWorld;
  number: string;
  random(): Random;
  phone(): Promise<Phone>;
}

/** The step with the passkey, on the owner's phone. */
export interface PasskeyCeremony {
  /** A notification may tell of the companion's next step. */
  onArrival(notification: BinaryNode): void;
  /** Goes through all steps. @returns the secret and reference for linking @throws when a step does not come, or is wrong */
  run(scanned: ScannedSecrets): Promise<{ advSecret: Uint8Array; ref: string }>;
  /** What the phone shows, see `PasskeyMethods.passkeyCode`. */
  code(timeoutMs?: number): Promise<{ code: string; mustCompare: boolean }>;
}

/** A phone that is in the middle of nothing. */
export function createPasskeyCeremony({ world, number, random, phone }: Needs): PasskeyCeremony {
  const steps = new NoteBox<BinaryNode>(world.time);
  const shown = new NoteBox<{ code: string; mustCompare: boolean }>(world.time);

  async function stepOf(tag: string): Promise<BinaryNode> {
    const step = await steps.take((node) => node.tag === tag, STEP_MS);
    if (!step) throw new Error(`The companion of ${number} did not send its ${tag}.`);
    return step;
  }

  return {
    onArrival(notification) {
      if (notification.attrs.type !== "companion_linking" || !Array.isArray(notification.content)) return;
      for (const step of notification.content) steps.put(step);
    },
    async run(scanned) {
      const prologue = await stepOf("passkey_prologue");
      const payload = bytes(child(prologue, "prologue_payload")) ?? Buffer.alloc(0);
      const proof = bytes(child(prologue, "pairing_handoff_proof"));
      const exchange = openPrologue(payload, proof, scanned, random().fork("passkey"));
      const { ref } = exchange.identity;
      const { query } = (await phone()).state;
      const answer = element("primary_ephemeral_identity", {}, primaryIdentity(exchange));
      await query(iq("md", [answer], "set"));
      const nonce = bytes(await stepOf("companion_nonce")) ?? Buffer.alloc(0);
      shown.put({ code: codeToCompare(exchange, nonce), mustCompare: !exchange.hasProof });
      const sealed = bytes(await stepOf("encrypted_pairing_request")) ?? Buffer.alloc(0);
      return { advSecret: openPairingRequest(exchange, sealed, scanned), ref: ref! };
    },
    async code(timeoutMs = CODE_WAIT_MS) {
      const found = await shown.take(() => true, timeoutMs);
      if (!found) throw new Error(`The phone of ${number} shows no code.`);
      return found;
    },
  };
}
