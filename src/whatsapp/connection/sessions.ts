/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { childOf, childrenOf } from "../nodes.ts";
import type { Target } from "./recipients.ts";
import { Unanswered } from "./unanswered.ts";

/** Errors that pass: the server could not answer now. */
const PASSING = new Set([408, 429]);

/** What came of opening sessions, by the device's address in the stanza. All others are open. */
export type NotOpened = ReadonlyMap<string, "no_keys" | "failed">;

const NONE: NotOpened = new Map();

interface StoredSession {
  _sessions?: Record<string, { indexInfo: { closed: number } }>;
}

/**
 * Opens sessions with devices that there is none with. Baileys does so while it sends, inside the transaction that all
 * sends of the number share: one contact whose keys do not come would hold up everybody else's messages.
 *
 * @throws {Unanswered} when WhatsApp does not answer the question for keys
 */
export async function openSessions(socket: WASocket, targets: Target[]): Promise<NotOpened> {
  const wanted = await withoutSession(socket, targets);
  if (wanted.length === 0) return NONE;
  const notOpened = new Map<string, "no_keys" | "failed">();
  const answer = (await socket.query(keysOf(wanted))) as BinaryNode | undefined;
  if (answer === undefined) throw new Unanswered("the question for keys");
  const asked = new Map(wanted.map(({ session, jid }) => [session, jid]));
  for (const { jid } of wanted) notOpened.set(jid, "failed");
  for (const user of childrenOf(childOf(answer, "list"))) {
    const jid = asked.get(user.attrs.jid ?? "");
    if (jid === undefined) continue;
    const error = childOf(user, "error");
    if (error === undefined && (await inject(socket, user))) notOpened.delete(jid);
    if (error !== undefined && saysNo(Number(error.attrs.code))) notOpened.set(jid, "no_keys");
  }
  return notOpened;
}

async function withoutSession(
  { signalRepository, authState }: WASocket,
  targets: Target[],
): Promise<Target[]> {
  const addresses = targets.map(({ session }) => signalRepository.jidToSignalProtocolAddress(session));
  const records = (await authState.keys.get("session", addresses)) as unknown as Record<
    string,
    StoredSession | undefined
  >;
  return targets.filter((_, index) => !isOpen(records[addresses[index]!]));
}

function isOpen(record: StoredSession | undefined): boolean {
  for (const key in record?._sessions) if (record._sessions[key]!.indexInfo.closed === -1) return true;
  return false;
}

function keysOf(targets: Target[]): BinaryNode {
  const users = targets.map(({ session }) => ({ tag: "user", attrs: { jid: session } }));
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
