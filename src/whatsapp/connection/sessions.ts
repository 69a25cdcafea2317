/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { isPn } from "../jids.ts";
import { childOf, childrenOf } from "./nodes.ts";
import { Unanswered } from "./unanswered.ts";

/** Errors that pass: the server could not answer now. */
const PASSING = new Set([408, 429]);

/** What came of opening sessions, by the address of the device. All others are open. */
export type NotOpened = Map<string, "no_keys" | "failed">;

interface StoredSession {
  _sessions?: Record<string, { indexInfo: { closed: number } }>;
}

/**
 * Opens sessions with devices that there is none with. Baileys does so while it sends, inside the transaction that all
 * sends of the number share: one contact whose keys do not come would hold up everybody else's messages.
 *
 * @param devices addresses with their device
 * @throws {Unanswered} when WhatsApp does not answer the question for keys
 */
export async function openSessions(socket: WASocket, devices: string[]): Promise<NotOpened> {
  const notOpened: NotOpened = new Map();
  const wanted = await withoutSession(socket, devices);
  if (wanted.size === 0) return notOpened;
  const answer = (await socket.query(keysOf([...wanted.keys()]))) as BinaryNode | undefined;
  if (answer === undefined) throw new Unanswered("the question for keys");
  for (const device of wanted.values()) notOpened.set(device, "failed");
  for (const user of childrenOf(childOf(answer, "list"))) {
    const device = wanted.get(user.attrs.jid ?? "");
    if (device === undefined) continue;
    const error = childOf(user, "error");
    if (error === undefined && (await inject(socket, user))) notOpened.delete(device);
    if (error !== undefined && saysNo(Number(error.attrs.code))) notOpened.set(device, "no_keys");
  }
  return notOpened;
}

/** The addresses to ask for keys with (the LID's where it is known), and the devices that they are of. */
async function withoutSession(
  { signalRepository, authState }: WASocket,
  devices: string[],
): Promise<Map<string, string>> {
  const named = await Promise.all(
    devices.map(async (device) => {
      const lid = isPn(device) ? await signalRepository.lidMapping.getLIDForPN(device) : null;
      const wire = lid ?? device;
      return { device, wire, address: signalRepository.jidToSignalProtocolAddress(wire) };
    }),
  );
  const addresses = named.map(({ address }) => address);
  const records = (await authState.keys.get("session", addresses)) as unknown as Record<
    string,
    StoredSession | undefined
  >;
  const closed = named.filter(({ address }) => !isOpen(records[address]));
  return new Map(closed.map(({ wire, device }) => [wire, device]));
}

function isOpen(record: StoredSession | undefined): boolean {
  for (const key in record?._sessions) if (record._sessions[key]!.indexInfo.closed === -1) return true;
  return false;
}

function keysOf(jids: string[]): BinaryNode {
  const users = jids.map((jid) => ({ tag: "user", attrs: { jid } }));
  return {
    tag: "iq",
    attrs: { xmlns: "encrypt", type: "get", to: "@s.whatsapp.net" },
    content: [{ tag: "key", attrs: {}, content: users }],
  };
}

/** One by one, so that a bundle that makes no sense is nobody else's trouble. */
async function inject({ signalRepository }: WASocket, user: BinaryNode): Promise<boolean> {
  const list = { tag: "list", attrs: {}, content: [user] };
  return baileys.parseAndInjectE2ESessions({ tag: "iq", attrs: {}, content: [list] }, signalRepository).then(
    () => true,
    () => false,
  );
}

const saysNo = (code: number): boolean => code >= 400 && code < 500 && !PASSING.has(code);
