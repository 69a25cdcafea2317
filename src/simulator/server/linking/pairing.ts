import type { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import type { Time } from "../../time.ts";
import { bytes, child, element, text } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { Device } from "../../world/accounts.ts";
import type { Account, Connection } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { World } from "../../world/world.ts";
import { IqError } from "../iq-error.ts";
import { readPairingAnswer } from "./pairing-answer.ts";
import type { SignedDevice } from "./pairing-answer.ts";
import type { Passkeys } from "./passkeys.ts";
import type { Deliveries, Reports, Stamps } from "../ports.ts";
import { Registrations, readRegistration } from "./registrations.ts";
import type { Registration } from "./registrations.ts";

/** A client keeps count of its references; the server gives it this long to notice that they have run out. */
const LEAVE_WITHIN_MS = 10_000;
/** How long a pairing code can be entered. */
const CODE_LIFE_MS = 180_000;
/** How long a reference is good that a client has asked for. */
const REFERENCE_LIFE_MS = 600_000;
/** The real service links four companions to a phone. */
const MAX_COMPANIONS = 4;

interface Needs extends Stamps, Deliveries, Reports {
  world: World;
  random: Random;
  time: Time;
  /** How many QR references a client gets, and how long they live. */
  qr: { refs: number; firstMs: number; nextMs: number };
  passkeys: Pick<Passkeys, "isRequired" | "ask">;
  /** Brings the phone of an account online. */
  wake(account: Account): Promise<void>;
}

type Parts = Needs & { registrations: Registrations };

/** Companions that are not linked yet: their QR references and pairing codes, and the linking itself. */
export interface Pairing {
  /** Takes a registering client and gives it its QR references (`iq md > pair-device`). */
  register(
    connection: Connection,
    data: proto.ClientPayload.IDevicePairingRegistrationData,
    noiseKey: Buffer,
  ): void;
  /** A registering client asks for linking by code: the phone of that number is told. */
  companionHello(connection: Connection, request: BinaryNode): BinaryNode[];
  /** Relays the companion's second message to the phone unchanged. */
  companionFinish(connection: Connection, request: BinaryNode): BinaryNode[];
  /** Relays the phone's answer to the companion. */
  primaryHello(request: BinaryNode): BinaryNode[];
  /** A registering client asks for a reference of its own, not to be shown to anybody. */
  newReference(connection: Connection): BinaryNode[];
  /**
   * The phone has signed a companion: the companion answers with its own signature and is linked. An account with a passkey is
   * first answered `<passkey/>`, and asks once more when its companion has proven itself (`passkey="1"`).
   */
  pairDevice(phone: Device, request: BinaryNode): Promise<BinaryNode[]>;
  /** Drops a client whose connection has ended, along with its references. */
  forget(connection: Connection): void;
  close(): void;
}

/** A pairing desk with nobody waiting. */
export function createPairing(needs: Needs): Pairing {
  const registrations = new Registrations(needs.random, needs.time);
  const parts: Parts = { ...needs, registrations };
  return {
    register: (connection, data, noiseKey) => register(parts, connection, data, noiseKey),
    companionHello: (connection, request) => companionHello(parts, connection, request),
    companionFinish: (connection, request) => companionFinish(parts, connection, request),
    primaryHello: (request) => primaryHello(parts, request),
    newReference: (connection) => newReference(parts, connection),
    pairDevice: (phone, request) => pairDevice(parts, phone, request),
    forget: (connection) => registrations.forget(connection),
    close: () => registrations.close(),
  };
}

function register(
  needs: Parts,
  connection: Connection,
  data: proto.ClientPayload.IDevicePairingRegistrationData,
  noiseKey: Buffer,
): void {
  const registration = readRegistration(connection, data, noiseKey);
  if (!registration) {
    needs.violations.report("signed_prekey_signature", "unlinked", "registration");
    connection.send(element("failure", { reason: "400" }));
    connection.close();
    return;
  }
  const { refs, firstMs, nextMs } = needs.qr;
  needs.registrations.add(registration, firstMs + (refs - 1) * nextMs + LEAVE_WITHIN_MS);
  const nodes = Array.from({ length: refs }, (_, index) => {
    const reference = needs.registrations.refer(registration, firstMs + index * nextMs);
    return element("ref", {}, Buffer.from(reference));
  });
  const attrs = { from: SERVER_JID, type: "set", id: needs.nextId(), xmlns: "md" };
  connection.query(element("iq", attrs, [element("pair-device", {}, nodes)])).catch(() => {});
}

/** `Browser (system)`, each a usual one. Source: whatsmeow `PairPhone`. */
const isClientName = (name = ""): boolean =>
  /^(Chrome|Edge|Firefox|IE|Internet Explorer|Opera|Safari|Android) \((Mac OS|macOS|Windows|Linux|Ubuntu|Android)\)$/.test(
    name,
  );

function companionHello(needs: Parts, connection: Connection, request: BinaryNode): BinaryNode[] {
  const registration = needs.registrations.of(connection);
  const account = needs.world.find(request.attrs.jid);
  if (!registration || !isClientName(text(child(request, "companion_platform_display"))))
    throw new IqError(400, "bad-request");
  if (account?.kind !== "owner") throw new IqError(404, "item-not-found");
  const reference = needs.registrations.refer(registration, CODE_LIFE_MS);
  const answer = element("link_code_pairing_ref", {}, Buffer.from(reference));
  tellPhone(needs, account, request, answer);
  return [element("link_code_companion_reg", { stage: "companion_hello" }, [answer])];
}

function newReference(needs: Parts, connection: Connection): BinaryNode[] {
  const registration = needs.registrations.of(connection);
  if (!registration) throw new IqError(404, "item-not-found");
  return [element("ref", {}, Buffer.from(needs.registrations.refer(registration, REFERENCE_LIFE_MS)))];
}

function companionFinish(needs: Parts, connection: Connection, request: BinaryNode): BinaryNode[] {
  const account = needs.world.find(request.attrs.jid);
  const registration = needs.registrations.find(text(child(request, "link_code_pairing_ref")));
  if (!account || registration?.connection !== connection) throw new IqError(404, "item-not-found");
  tellPhone(needs, account, request);
  return [];
}

function primaryHello(needs: Parts, request: BinaryNode): BinaryNode[] {
  const registration = needs.registrations.find(text(child(request, "link_code_pairing_ref")));
  if (!registration) throw new IqError(404, "item-not-found");
  const note = element("link_code_companion_reg", { stage: "primary_hello" }, request.content);
  registration.connection.send(notification(needs, note));
  return [];
}

async function pairDevice(needs: Parts, phone: Device, request: BinaryNode): Promise<BinaryNode[]> {
  const name = text(child(request, "ref"));
  const registration = needs.registrations.find(name);
  const identity = bytes(child(request, "device-identity"));
  if (!registration || !identity) throw new IqError(404, "item-not-found");
  if (!bytes(child(request, "pub-key"))?.equals(registration.noiseKey)) throw new IqError(400, "bad-request");
  if (phone.account.devices.size > MAX_COMPANIONS) throw new IqError(419, "resource-limit");
  const { connection } = registration;
  if (needs.passkeys.isRequired(phone.account) && request.attrs.passkey !== "1") {
    const mayTakeMs = needs.passkeys.ask(connection, phone);
    needs.registrations.extend(connection, mayTakeMs + LEAVE_WITHIN_MS);
    return [element("passkey")];
  }
  needs.registrations.spend(name!);
  const device = newDevice(phone.account, registration);
  const success = pairSuccess(needs, device, identity);
  const answer = await connection.query(success).catch(() => {
    throw new IqError(408, "companion-gone");
  });
  const signed = checkAnswer(needs, connection, device, identity, answer);
  device.signedIdentity = signed.identity;
  device.keyIndex = signed.keyIndex;
  phone.account.devices.set(device.id, device);
  phone.account.keyIndexes = bytes(child(request, "key-index-list")) ?? phone.account.keyIndexes;
  connection.send(element("stream:error", { code: "515" }));
  connection.close();
  return [element("device", { jid: device.pn, lid: device.lid })];
}

function newDevice(account: Account, registration: Registration): Device {
  const device = new Device(account, account.nextDevice++);
  device.noiseKey = registration.noiseKey;
  device.identity = registration.identity;
  device.registrationId = registration.registrationId;
  device.signedPreKey = registration.signedPreKey;
  return device;
}

function pairSuccess(needs: Parts, device: Device, identity: Buffer): BinaryNode {
  const business = device.account.edition === "business";
  const content = [
    element("device-identity", {}, identity),
    element("device", { jid: device.pn, lid: device.lid }),
    element("platform", { name: business ? "smba" : "android" }),
  ];
  if (business) content.push(element("biz", { name: device.account.name }));
  const attrs = { from: SERVER_JID, type: "set", id: needs.nextId(), xmlns: "md", t: needs.now() };
  return element("iq", attrs, [element("pair-success", {}, content)]);
}

/** @throws IqError when the companion did not sign what the phone has signed; it is sent away with 401 */
function checkAnswer(
  needs: Parts,
  connection: Connection,
  device: Device,
  sent: Buffer,
  answer: BinaryNode,
): SignedDevice {
  const signed = readPairingAnswer(device.identity!, sent, answer);
  if (typeof signed !== "string") return signed;
  needs.violations.report("pairing_signature", device.label, signed);
  connection.send(element("failure", { reason: "401" }));
  connection.close();
  throw new IqError(400, "bad-request");
}

function tellPhone(needs: Parts, account: Account, request: BinaryNode, ...more: BinaryNode[]): void {
  const content = [...(Array.isArray(request.content) ? request.content : []), ...more];
  const phone = account.devices.get(0);
  void needs.wake(account);
  if (phone) needs.deliver(phone, notification(needs, element(request.tag, request.attrs, content)));
}

function notification(needs: Stamps, content: BinaryNode): BinaryNode {
  const attrs = { from: SERVER_JID, type: "link_code_companion_reg", id: needs.nextId() };
  return element("notification", { ...attrs, t: needs.now() }, [content]);
}
