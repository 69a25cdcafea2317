import type { proto } from "@whiskeysockets/baileys";
import type { Random } from "../../random.ts";
import { type BinaryNode, child, children } from "../../wire/nodes.ts";
import { AppStateBook } from "../app-state/book.ts";
import { asksForAppStateKey, makeAppStateKeys, shareKeys } from "./first-sync.ts";
import { type HistoryPiece, historyMessage, olderPart, wantedHistory } from "./history.ts";
import { readUserJid } from "../jids.ts";
import type { PhoneWorld } from "../link.ts";
import type { KnownChat, KnownHistory, OwnerOptions, PlaceholderAnswer, SimulatedOwner } from "../people.ts";
import type { Phone } from "../phone.ts";
import { sendPlaceholders, wantedMessages } from "./placeholders.ts";

interface CareNeeds {
  world: PhoneWorld;
  options: OwnerOptions;
  random(): Random;
  phone(): Phone;
}

/** What an owner's phone tells its companions. */
export interface Care extends Pick<
  SimulatedOwner,
  "answerPlaceholder" | "changeAppState" | "appState" | "shareAppStateKeys" | "sendHistory"
> {
  /** A companion that has come online for the first time gets the app-state key and its first history. */
  onNotification(notification: BinaryNode): Promise<void>;
  /** A companion asks for its keys, for history, or for messages that reached it without content. */
  answer(message: proto.IMessage, about: { id: string; from: string }): Promise<void>;
  /** A companion was removed. */
  forget(companion: string): void;
}

const NOTHING: KnownHistory = { pairs: [], chats: [] };

/** The care of a phone that has linked nothing yet. */
export function createCare({ world, options, random, phone }: CareNeeds): Care {
  const { history = () => NOTHING } = options;
  const introduced = new Set<string>();
  const placeholders = new Map<string, PlaceholderAnswer>();
  const keys = makeAppStateKeys(random, () => world.time.now());
  let made: AppStateBook | undefined;
  const book = (): AppStateBook => (made ??= new AppStateBook(phone().state, keys));
  const tell = async (companion: string, message: proto.IMessage): Promise<void> =>
    await phone().outbox.sendToOwnDevice(companion, phone().newMessageId(), message);
  const tellAll = async (message: proto.IMessage): Promise<void> => {
    for (const companion of introduced) await tell(companion, message);
  };
  const piece = (given: HistoryPiece, inline: boolean): proto.IMessage =>
    historyMessage(given, phone().desk, inline);

  async function introduce(companion: string): Promise<void> {
    introduced.add(companion);
    await tell(companion, shareKeys(keys.all()));
    const { recent = [], pushNames = [], ...first } = history();
    await tell(companion, piece({ type: "first", chunk: 1, progress: 100, ...first }, true));
    for (const message of inPieces("recent", recent, 1)) await tell(companion, piece(message, true));
    if (pushNames.length > 0)
      await tell(
        companion,
        piece({ ...NOTHING, type: "push_names", chunk: 1, progress: 100, pushNames }, true),
      );
  }

  async function answerHistory(message: proto.IMessage, { id, from }: { id: string; from: string }) {
    const wanted = wantedHistory(message);
    if (wanted) await tell(from, piece(olderPiece(history(), wanted, id), true));
  }

  async function answerPlaceholders(message: proto.IMessage, { id, from }: { id: string; from: string }) {
    const wanted = wantedMessages(message);
    const answered = wanted?.filter((one) => placeholders.get(one.id ?? "") !== "silent");
    if (!answered?.length) return;
    const { memory } = phone().state;
    const found = answered.map((one) =>
      placeholders.get(one.id ?? "") === "not_found" ? undefined : memory.find(one.id ?? ""),
    );
    await tell(from, sendPlaceholders(id, found));
  }

  return {
    answerPlaceholder: (id, how) => void placeholders.set(id, how),
    forget: (companion) => void introduced.delete(companion),
    async onNotification(notification) {
      const { type } = notification.attrs;
      if (type === "server_sync")
        await book().follow(children(notification, "collection").map(({ attrs }) => attrs.name ?? ""));
      if (type !== "devices") return;
      for (const { attrs } of children(child(notification, "remove"), "device"))
        introduced.delete(attrs.jid ?? "");
      for (const { attrs } of children(child(notification, "add"), "device")) {
        const { jid } = attrs;
        if (jid && readUserJid(jid).user === options.number && !introduced.has(jid)) await introduce(jid);
      }
    },
    async answer(message, about) {
      if (asksForAppStateKey(message)) await tell(about.from, shareKeys(keys.all()));
      await answerHistory(message, about);
      await answerPlaceholders(message, about);
    },
    changeAppState: (changes, { key = "same", ...writing }) =>
      phone().do(async () => {
        if (key !== "same") keys.add();
        if (key === "new") await tellAll(shareKeys(keys.all()));
        return await book().write(changes, writing);
      }),
    appState: async () => book().entries(),
    shareAppStateKeys: () => phone().do(async () => await tellAll(shareKeys(keys.all()))),
    sendHistory: ({ type, chats, pairs, pushNames, pieces = 1, inline = true }) =>
      phone().do(async () => {
        for (const message of inPieces(type, chats, pieces))
          await tellAll(piece({ ...message, pairs, pushNames }, inline));
      }),
  };
}

/** The part of the history that a companion asked for. */
function olderPiece(
  { chats, recent = [], older = [] }: KnownHistory,
  wanted: NonNullable<ReturnType<typeof wantedHistory>>,
  requestId: string,
): HistoryPiece {
  const part = olderPart([...older, ...recent, ...chats], wanted);
  return { ...NOTHING, type: "on_demand", chunk: 1, progress: 100, requestId, chats: part };
}

/** History as phones tell it: some chats at a time. At least one piece. */
function inPieces(type: HistoryPiece["type"], chats: readonly KnownChat[], pieces: number): HistoryPiece[] {
  if (type === "recent" && chats.length === 0 && pieces === 1) return [];
  const size = Math.max(1, Math.ceil(chats.length / pieces));
  return Array.from({ length: pieces }, (_, index) => ({
    type,
    chunk: index + 1,
    progress: Math.round((100 * (index + 1)) / pieces),
    pairs: [],
    chats: chats.slice(index * size, (index + 1) * size),
  }));
}
