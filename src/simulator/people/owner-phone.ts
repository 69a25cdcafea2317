import type { proto } from "@whiskeysockets/baileys";
import { type BinaryNode, bytes, child, children, element, text } from "../wire/nodes.ts";
import { sealForCompanion, signByAccount } from "./device-identity.ts";
import { iq } from "./directory.ts";
import {
  type AppStateKey,
  asksForAppStateKey,
  firstHistory,
  makeAppStateKey,
  shareAppStateKey,
} from "./first-sync.ts";
import { NUMBERS, deviceJid, readUserJid } from "./jids.ts";
import type { KnownHistory, OwnerOptions, PhoneWorld, PlaceholderAnswer, SimulatedOwner } from "./link.ts";
import { WrongCode, answerHello, openKeyBundle } from "./linking-code.ts";
import { NoteBox } from "./note-box.ts";
import { Person } from "./person.ts";
import type { PhoneOptions } from "./phone.ts";
import { sendPlaceholders, wantedMessages } from "./placeholders.ts";

/** How long the phone waits for the other side of a linking by code, in milliseconds. */
const CODE_WAIT_MS = 20_000;

/** Names one linking by code, from the hello to its end. */
const REF = "link_code_pairing_ref";

/** The owner's own phone: it links and unlinks companions, and tells a new one what it must know. */
export class OwnerPhone extends Person implements SimulatedOwner {
  readonly #history: () => KnownHistory;
  readonly #introduced = new Set<string>();
  readonly #linkCodes = new NoteBox<BinaryNode>();
  readonly #placeholders = new Map<string, PlaceholderAnswer>();
  #lastKeyIndex = 0;
  #appStateKey: AppStateKey | undefined;

  constructor(world: PhoneWorld, options: OwnerOptions) {
    super(world, { ...options, devices: 1 });
    this.#history = options.history ?? (() => ({ pairs: [], chats: [] }));
  }

  async scan(qrText: string): Promise<{ device: number }> {
    const [ref, noiseKey, identity, advSecret] = (qrText.split("#").at(-1) ?? "").split(",");
    if (!ref || !noiseKey || !identity || !advSecret) {
      throw new Error("This is not the QR text of a companion: it needs ref, two keys and a secret.");
    }
    await this.wake();
    const keys = [noiseKey, identity, advSecret].map((base64) => Buffer.from(base64, "base64"));
    return await this.#link(ref, keys[0]!, keys[1]!, keys[2]!);
  }

  async enterPairingCode(code: string): Promise<{ device: number }> {
    await this.wake();
    let hello = await this.#linkCode("companion_hello");
    for (;;) {
      try {
        return await this.#linkByCode(code, hello);
      } catch (error) {
        // The companion may have asked anew meanwhile: the code is then for its newer request.
        const newer = this.#linkCodes.takeNow(({ attrs }) => attrs.stage === "companion_hello");
        if (!(error instanceof WrongCode) || !newer) throw error;
        hello = newer;
      }
    }
  }

  answerPlaceholder(id: string, how: PlaceholderAnswer): void {
    this.#placeholders.set(id, how);
  }

  async removeCompanion(device: number): Promise<void> {
    await this.wake();
    const jid = deviceJid({ user: this.number, server: NUMBERS, device });
    const removal = element("remove-companion-device", { jid, reason: "user_initiated" });
    const answer = await this.phone().state.query(iq("md", [removal], "set"));
    this.#succeeded(answer, `removing companion ${device}`);
    this.#introduced.delete(jid);
  }

  protected override phoneOptions(device: number): PhoneOptions {
    return {
      ...super.phoneOptions(device),
      onArrival: (notification) => {
        const linkCode = child(notification, "link_code_companion_reg");
        if (linkCode) this.#linkCodes.put(linkCode);
      },
      onNotification: (notification) => this.#introduceCompanions(notification),
      onMessage: async (message, about) => {
        if (about.isPeer) await this.#answerCompanion(message, about);
      },
    };
  }

  async #linkByCode(code: string, hello: BinaryNode): Promise<{ device: number }> {
    const { signal, query } = this.phone().state;
    const ref = text(child(hello, REF)) ?? "";
    const wrapped = content(hello, "link_code_pairing_wrapped_companion_ephemeral_pub");
    const exchange = await answerHello(code, wrapped, this.random.fork(`pairing ${ref}`));
    const answer = element("link_code_companion_reg", { stage: "primary_hello" }, [
      element("link_code_pairing_wrapped_primary_ephemeral_pub", {}, exchange.wrapped),
      element("primary_identity_pub", {}, signal.identity.public),
      element(REF, {}, Buffer.from(ref)),
    ]);
    this.#succeeded(await query(iq("md", [answer], "set")), "answering the companion");
    const finish = await this.#linkCode("companion_finish", ref);
    const bundle = content(finish, "link_code_pairing_wrapped_key_bundle");
    const announced = content(finish, "companion_identity_public");
    const { companion, advSecret } = openKeyBundle(exchange, bundle, announced, signal.identity);
    return await this.#link(ref, content(hello, "companion_server_auth_key_pub"), companion, advSecret);
  }

  async #link(
    ref: string,
    noiseKey: Uint8Array,
    companion: Uint8Array,
    advSecret: Uint8Array,
  ): Promise<{ device: number }> {
    const { signal, query } = this.phone().state;
    const keyIndex = ++this.#lastKeyIndex;
    const rawId = this.random.fork(`linking ${keyIndex}`).integer(2 ** 31);
    const timestamp = Math.floor(this.world.clock.now() / 1000);
    const signed = signByAccount(signal.identity, companion, { rawId, timestamp, keyIndex });
    const parts = [
      element("ref", {}, Buffer.from(ref)),
      element("pub-key", {}, noiseKey),
      element("device-identity", {}, sealForCompanion(signed, advSecret)),
    ];
    const answer = await query(iq("md", [element("pair-device", {}, parts)], "set"));
    this.#succeeded(answer, "linking");
    return { device: readUserJid(child(answer, "device")?.attrs.jid ?? "").device };
  }

  #succeeded(answer: BinaryNode, what: string): void {
    if (answer.attrs.type !== "error") return;
    const { code, text: reason } = child(answer, "error")?.attrs ?? {};
    throw new Error(`WhatsApp refused ${what} with ${code} (${reason}) for ${this.number}.`);
  }

  /** The newest message of a linking by code; it is used once. */
  async #linkCode(stage: string, ref?: string): Promise<BinaryNode> {
    const node = await this.#linkCodes.take(
      (note) => note.attrs.stage === stage && (ref === undefined || text(child(note, REF)) === ref),
      CODE_WAIT_MS,
    );
    if (!node) throw new Error(`No companion of ${this.number} waits for a pairing code (${stage}).`);
    return node;
  }

  /** A companion that has come online for the first time gets the app-state key and its first history. */
  async #introduceCompanions(notification: BinaryNode): Promise<void> {
    if (notification.attrs.type !== "devices") return;
    for (const { attrs } of children(child(notification, "remove"), "device"))
      this.#introduced.delete(attrs.jid ?? "");
    for (const { attrs } of children(child(notification, "add"), "device")) {
      const { jid } = attrs;
      if (!jid || readUserJid(jid).user !== this.number || this.#introduced.has(jid)) continue;
      this.#introduced.add(jid);
      await this.#tell(jid, shareAppStateKey(this.#key()));
      await this.#tell(jid, firstHistory(this.#history()));
    }
  }

  async #answerCompanion(message: proto.IMessage, { id, from }: { id: string; from: string }): Promise<void> {
    if (asksForAppStateKey(message)) await this.#tell(from, shareAppStateKey(this.#key()));
    const wanted = wantedMessages(message);
    const answered = wanted?.filter((key) => this.#placeholders.get(key.id ?? "") !== "silent");
    if (!answered?.length) return;
    const { memory } = this.phone().state;
    const found = answered.map((key) => {
      const isThere = this.#placeholders.get(key.id ?? "") !== "not_found";
      return isThere ? memory.find(key.id ?? "") : undefined;
    });
    await this.#tell(from, sendPlaceholders(id, found));
  }

  async #tell(companion: string, message: proto.IMessage): Promise<void> {
    const phone = this.phone();
    await phone.outbox.sendToOwnDevice(companion, phone.newMessageId(), message);
  }

  #key(): AppStateKey {
    this.#appStateKey ??= makeAppStateKey(this.random.fork("app state key"), this.world.clock.now());
    return this.#appStateKey;
  }
}

function content(node: BinaryNode, tag: string): Uint8Array {
  return bytes(child(node, tag)) ?? new Uint8Array();
}
