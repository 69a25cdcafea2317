import type { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { bytes, child, element, text } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { typedPublicKey, verify } from "../wire/keys.ts";
import type { Account } from "../world.ts";
import type { Connection } from "./connection.ts";
import { Device } from "./device.ts";
import type { SignedPreKey } from "./device.ts";
import { IqError } from "./iq-error.ts";
import { SERVER_JID } from "./jid.ts";
import { readPairingAnswer } from "./pairing-answer.ts";
import type { SignedDevice } from "./pairing-answer.ts";
import type { SimulatorServer } from "./server.ts";

/** A client counts its references itself; the server gives it this long to notice that they ran out. */
const LEAVE_WITHIN_MS = 10_000;
/** A code can be entered for so long. */
const CODE_LIFE_MS = 180_000;
/** The real service links four companions to a phone. */
const MAX_COMPANIONS = 4;

/** A client that wants to become a companion. */
interface Registration {
  connection: Connection;
  noiseKey: Buffer;
  identity: Buffer;
  registrationId: number;
  signedPreKey: SignedPreKey;
  timer: NodeJS.Timeout;
}

interface Reference {
  registration: Registration;
  expiresAt: number;
}

/** Companions that are not linked yet: their QR references and pairing codes, and the linking itself. */
export class PairingDesk {
  readonly #server: SimulatorServer;
  readonly #registrations = new Map<Connection, Registration>();
  readonly #references = new Map<string, Reference>();
  #lastReference = 0;

  constructor(server: SimulatorServer) {
    this.#server = server;
  }

  /** Takes a registering client and gives it its QR references. */
  register(
    connection: Connection,
    data: proto.ClientPayload.IDevicePairingRegistrationData,
    noiseKey: Buffer,
  ): void {
    const identity = asBuffer(data.eIdent);
    const signedPreKey = {
      id: asBuffer(data.eSkeyId).length === 3 ? asBuffer(data.eSkeyId).readUIntBE(0, 3) : 0,
      publicKey: asBuffer(data.eSkeyVal),
      signature: asBuffer(data.eSkeySig),
    };
    if (!verify(identity, typedPublicKey(signedPreKey.publicKey), signedPreKey.signature)) {
      this.#server.violations.report("signed_prekey_signature", "unlinked", "registration");
      connection.send(element("failure", { reason: "400" }));
      connection.close();
      return;
    }
    const { refs, firstMs, nextMs } = this.#server.qr;
    const lifeMs = firstMs + (refs - 1) * nextMs;
    const timer = setTimeout(() => connection.close(), lifeMs + LEAVE_WITHIN_MS).unref();
    const registrationId = asBuffer(data.eRegid).length === 4 ? asBuffer(data.eRegid).readUInt32BE() : 0;
    const registration = { connection, noiseKey, identity, registrationId, signedPreKey, timer };
    this.#registrations.set(connection, registration);
    const nodes = Array.from({ length: refs }, (_, index) => {
      const reference = this.#newReference(registration, firstMs + index * nextMs);
      return element("ref", {}, Buffer.from(reference));
    });
    const iq = element("iq", { from: SERVER_JID, type: "set", id: this.#server.nextId(), xmlns: "md" }, [
      element("pair-device", {}, nodes),
    ]);
    connection.query(iq).catch(() => {});
  }

  /** A registering client asks for linking by code: the phone of that number is told. */
  companionHello(connection: Connection, request: BinaryNode): BinaryNode[] {
    const registration = this.#registrations.get(connection);
    const account = this.#server.world.find(request.attrs.jid);
    if (!registration) throw new IqError(400, "bad-request");
    if (account?.kind !== "owner") throw new IqError(404, "item-not-found");
    const reference = this.#newReference(registration, CODE_LIFE_MS);
    const answer = element("link_code_pairing_ref", {}, Buffer.from(reference));
    this.#tellPhone(account, request, answer);
    return [element("link_code_companion_reg", { stage: "companion_hello" }, [answer])];
  }

  /** The companion's second message goes to the phone as it is. */
  companionFinish(connection: Connection, request: BinaryNode): BinaryNode[] {
    const account = this.#server.world.find(request.attrs.jid);
    const reference = this.#reference(text(child(request, "link_code_pairing_ref")));
    if (!account || reference?.registration.connection !== connection)
      throw new IqError(404, "item-not-found");
    this.#tellPhone(account, request);
    return [];
  }

  /** The phone's answer to a hello goes to the companion. */
  primaryHello(request: BinaryNode): BinaryNode[] {
    const reference = this.#reference(text(child(request, "link_code_pairing_ref")));
    if (!reference) throw new IqError(404, "item-not-found");
    const note = element("link_code_companion_reg", { stage: "primary_hello" }, request.content);
    reference.registration.connection.send(this.#notification(note));
    return [];
  }

  /** The phone has signed a companion: the companion answers with its own signature and is linked. */
  async pairDevice(phone: Device, request: BinaryNode): Promise<BinaryNode[]> {
    const name = text(child(request, "ref"));
    const registration = this.#reference(name)?.registration;
    const identity = bytes(child(request, "device-identity"));
    if (!registration || !identity) throw new IqError(404, "item-not-found");
    if (!bytes(child(request, "pub-key"))?.equals(registration.noiseKey))
      throw new IqError(400, "bad-request");
    if (phone.account.devices.size > MAX_COMPANIONS) throw new IqError(419, "resource-limit");
    this.#references.delete(name!);
    const device = this.#newDevice(phone.account, registration);
    const answer = await this.#pairSuccess(registration.connection, device, identity).catch(() => {
      throw new IqError(408, "companion-gone");
    });
    const signed = this.#checkAnswer(registration.connection, device, identity, answer);
    device.signedIdentity = signed.identity;
    device.keyIndex = signed.keyIndex;
    phone.account.devices.set(device.id, device);
    registration.connection.send(element("stream:error", { code: "515" }));
    registration.connection.close();
    return [element("device", { jid: device.pn, lid: device.lid })];
  }

  /** A connection has ended; what it was shown is worth nothing any more. */
  forget(connection: Connection): void {
    const registration = this.#registrations.get(connection);
    if (!registration) return;
    clearTimeout(registration.timer);
    this.#registrations.delete(connection);
    for (const [name, reference] of this.#references) {
      if (reference.registration === registration) this.#references.delete(name);
    }
  }

  close(): void {
    for (const { timer } of this.#registrations.values()) clearTimeout(timer);
  }

  #newReference(registration: Registration, lifeMs: number): string {
    const secret = this.#server.random.fork(`ref:${++this.#lastReference}`).bytes(48);
    const name = `2@${secret.toString("base64")}`;
    this.#references.set(name, { registration, expiresAt: this.#server.clock() + lifeMs });
    return name;
  }

  #reference(name: string | undefined): Reference | undefined {
    const reference = this.#references.get(name ?? "");
    return reference && reference.expiresAt > this.#server.clock() ? reference : undefined;
  }

  #newDevice(account: Account, registration: Registration): Device {
    const device = new Device(account, account.nextDevice++);
    device.noiseKey = registration.noiseKey;
    device.identity = registration.identity;
    device.registrationId = registration.registrationId;
    device.signedPreKey = registration.signedPreKey;
    return device;
  }

  #pairSuccess(connection: Connection, device: Device, identity: Buffer): Promise<BinaryNode> {
    const business = device.account.edition === "business";
    const content = [
      element("device-identity", {}, identity),
      element("device", { jid: device.pn, lid: device.lid }),
      element("platform", { name: business ? "smba" : "android" }),
    ];
    if (business) content.push(element("biz", { name: device.account.name }));
    const attrs = {
      from: SERVER_JID,
      type: "set",
      id: this.#server.nextId(),
      xmlns: "md",
      t: this.#server.now(),
    };
    return connection.query(element("iq", attrs, [element("pair-success", {}, content)]));
  }

  /** @throws IqError when the companion did not sign what the phone has signed; it is sent away with 401 */
  #checkAnswer(connection: Connection, device: Device, sent: Buffer, answer: BinaryNode): SignedDevice {
    const signed = readPairingAnswer(device.identity!, sent, answer);
    if (typeof signed !== "string") return signed;
    this.#server.violations.report("pairing_signature", device.label, signed);
    connection.send(element("failure", { reason: "401" }));
    connection.close();
    throw new IqError(400, "bad-request");
  }

  #tellPhone(account: Account, request: BinaryNode, ...more: BinaryNode[]): void {
    const content = [...(Array.isArray(request.content) ? request.content : []), ...more];
    const phone = account.devices.get(0);
    void this.#server.wake(account);
    if (phone) {
      this.#server.deliver(phone, this.#notification(element(request.tag, request.attrs, content)));
    }
  }

  #notification(content: BinaryNode): BinaryNode {
    const attrs = { from: SERVER_JID, type: "link_code_companion_reg", id: this.#server.nextId() };
    return element("notification", { ...attrs, t: this.#server.now() }, [content]);
  }
}

const asBuffer = (field: Uint8Array | null | undefined): Buffer => Buffer.from(field ?? []);
