/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { Time } from "../../model/time.ts";
import { baileys } from "../baileys.ts";
import { childOf, childrenOf } from "../nodes.ts";
import { askOnce } from "../devices/ask-once.ts";
import { userOf } from "../jids.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import type { Target } from "./targets.ts";
import { Unanswered } from "../devices/unanswered.ts";

/** Errors that pass: the server could not answer now. */
const PASSING = new Set([408, 429]);

/** What came of opening sessions, by the device's address in the stanza. All others are open. */
export type NotOpened = ReadonlyMap<string, "no_keys" | "failed">;

const NONE: NotOpened = new Map();

interface StoredSession {
  _sessions?: Record<string, { indexInfo: { closed: number } }>;
}

/** Opens sessions on one connection. */
export interface Sessions {
  /**
   * Opens sessions with devices that there is none with, or whose phone has new keys. Baileys does so while it sends, inside the transaction that all
   * sends of the number share: one contact whose keys do not come would hold up everybody else's messages.
   *
   * @throws {Unanswered} when WhatsApp does not answer the question for keys
   */
  open(targets: Target[]): Promise<NotOpened>;
}

/** Sessions of one connection. A device that is being asked about already is not asked about twice. */
export function createSessions(
  socket: WASocket,
  time: Pick<Time, "deadline">,
  { newIdentities }: Pick<DeviceMemory, "newIdentities">,
): Sessions {
  const ask = askOnce(time, "the query for keys", (addresses) => askForKeys(socket, addresses));
  return {
    async open(targets) {
      const wanted = await withoutSession(socket, targets, ({ session }) =>
        newIdentities.has(userOf(session)),
      );
      if (wanted.length === 0) return NONE;
      const answers = await ask(wanted.map(({ session }) => session));
      for (const { session } of wanted)
        if (answers.get(session) === "open") newIdentities.delete(userOf(session));
      const notOpened = new Map<string, "no_keys" | "failed">();
      for (const { jid, session } of wanted) {
        const outcome = answers.get(session) ?? "failed";
        if (outcome !== "open") notOpened.set(jid, outcome);
      }
      return notOpened;
    },
  };
}

/** @returns what came of it, by the address that was asked for */
async function askForKeys(
  socket: WASocket,
  addresses: string[],
): Promise<Map<string, "open" | "no_keys" | "failed">> {
  const answer = (await socket.query(keysOf(addresses))) as BinaryNode | undefined;
  if (answer === undefined) throw new Unanswered("the query for keys");
  const asked = new Set(addresses);
  const outcomes = new Map<string, "open" | "no_keys" | "failed">();
  for (const user of childrenOf(childOf(answer, "list"))) {
    const address = user.attrs.jid ?? "";
    if (!asked.has(address)) continue;
    const error = childOf(user, "error");
    if (error === undefined) outcomes.set(address, (await inject(socket, user)) ? "open" : "failed");
    else if (saysNo(Number(error.attrs.code))) outcomes.set(address, "no_keys");
  }
  return outcomes;
}

async function withoutSession(
  { signalRepository, authState }: WASocket,
  targets: Target[],
  wantsAnother: (target: Target) => boolean,
): Promise<Target[]> {
  const addresses = targets.map(({ session }) => signalRepository.jidToSignalProtocolAddress(session));
  const records = (await authState.keys.get("session", addresses)) as unknown as Record<
    string,
    StoredSession | undefined
  >;
  return targets.filter((target, index) => wantsAnother(target) || !isOpen(records[addresses[index]!]));
}

function isOpen(record: StoredSession | undefined): boolean {
  for (const key in record?._sessions) if (record._sessions[key]!.indexInfo.closed === -1) return true;
  return false;
}

function keysOf(addresses: string[]): BinaryNode {
  const users = addresses.map((jid) => ({ tag: "user", attrs: { jid } }));
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
