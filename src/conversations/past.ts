import { outbox } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import type { PastMessage, PastOf, ReadPast } from "../model/past-message.ts";
import { placeOf } from "../model/page.ts";
import { defineQuery } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import { withoutEchoes } from "./messages.ts";
import type { Contents, ListedMessage } from "./records.ts";
import { canonicalChats, keysOfChats } from "./same-chat.ts";
import { readMessages } from "./shown.ts";
import { spotsBefore, STREAMS, type Spot } from "./spots.ts";

/** Characters of all texts together: a chat with long texts is told of in fewer messages. */
const MOST_CHARACTERS = 262_144;
const AT_ONCE = 50;
/** Rows that are looked at: what waits behind the message in its chat may be any number. */
const MOST_LOOKED_AT = 2_000;
/** What happened to a message is seen in the message. */
const NO_MESSAGE = new Set<ListedMessage["type"]>(["edit", "revoke"]);

const ANSWERED = defineQuery(
  "SELECT wa_id, inbox_id FROM outbox WHERE id IN (SELECT value FROM json_each(?))",
  { waId: outbox.waId, inboxId: outbox.inboxId },
);

/** What is read of each message: no file is looked at. */
type Texts = Pick<Contents, "openIncoming" | "openDraft">;

/** Reads what was written in a chat, newest first and by index, until there is enough of it. */
export function createPast(store: Pick<Reading, "read">, texts: Texts): ReadPast {
  const contents: Contents = {
    ...texts,
    link: () => ({ error: "Not looked for." }),
    sentLink: () => "",
    replyId: null,
    fileFacts: async () => new Map(),
  };

  /** @param chat that they are all of, by its canonical key */
  async function read(of: PastOf, chat: string, spots: Spot[]): Promise<PastMessage[]> {
    const devices = [{ id: of.deviceId, number: of.ownNumber }];
    const listed = await readMessages(store, contents, devices, spots, () => chat);
    return listed.filter(({ type, revoked }) => !revoked && !NO_MESSAGE.has(type)).map(asPast);
  }

  async function note(anchors: Map<string, number>, spots: Spot[]): Promise<void> {
    const sent = spots.filter(({ stream }) => stream === "sent").map(({ id }) => id);
    for (const { stream, waId, id } of spots) if (stream !== "sent") anchors.set(waId, id);
    if (sent.length === 0) return;
    for (const { waId, inboxId } of await store.read(ANSWERED, [JSON.stringify(sent)]))
      if (inboxId !== null) anchors.set(waId, inboxId);
  }

  return async (of, limit) => {
    const { deviceId, inboxIds } = of;
    const chat = (await canonicalChats(store, [of]))(of);
    const [chats] = await keysOfChats(store, [{ deviceId, chat }]);
    const wanted = {
      deviceIds: [deviceId],
      streams: STREAMS,
      chats: [...new Set([...chats!, of.chat])],
      state: null,
      since: 0,
    };
    const upTo = inboxIds.at(-1)!;
    const answered = new Set(inboxIds);
    const now: Spot[] = [];
    const before: PastMessage[] = [];
    const anchors = new Map<string, number>();
    const more = spotsBefore(store, wanted, placeOf(undefined));
    for (let looked = 0; looked < MOST_LOOKED_AT && before.length < limit; looked += AT_ONCE) {
      if (looked > 0) await giveWay();
      const spots = await more(AT_ONCE);
      const own = (await withoutEchoes(store, spots)).filter(
        ({ stream, id, state }) => state !== "failed" && (stream === "sent" || id <= upTo),
      );
      now.push(...own.filter(({ stream, id }) => stream !== "sent" && answered.has(id)));
      const earlier = own.filter((spot) => !now.includes(spot));
      await note(anchors, earlier);
      before.push(...(await read(of, chat, earlier)));
      if (spots.length < AT_ONCE || lengthOf(before) >= MOST_CHARACTERS) break;
    }
    const ordered = before.toSorted(newestFirst(anchors));
    return withinLimits([...(await read(of, chat, now)), ...ordered], limit).toReversed();
  };
}

/** Within a millisecond what answers comes after what it answers. @param anchors rows of the inbox, by ids of messages */
const newestFirst =
  (anchors: ReadonlyMap<string, number>) =>
  (a: PastMessage, b: PastMessage): number =>
    b.at - a.at ||
    // What answers nothing stands behind what came.
    (anchors.get(b.id) ?? Number.MAX_SAFE_INTEGER) - (anchors.get(a.id) ?? Number.MAX_SAFE_INTEGER) ||
    Number(b.who === "bot") - Number(a.who === "bot");

/** @param messages newest first; of these the first is there in any case */
function withinLimits(messages: PastMessage[], limit: number): PastMessage[] {
  let characters = 0;
  const end = messages.findIndex(({ text }, index) => {
    characters += text.length;
    return index > 0 && characters > MOST_CHARACTERS;
  });
  return messages.slice(0, end === -1 ? limit : Math.min(end, limit));
}

const lengthOf = (messages: PastMessage[]): number =>
  messages.reduce((sum, { text }) => sum + text.length, 0);

function asPast({ id, direction, answeredBy, state, from, type, message, at }: ListedMessage): PastMessage {
  // Of a message that came, `answeredBy` is who answered it; one that went has a state when the gateway wrote it.
  const by = state === undefined ? null : (answeredBy ?? null);
  const who = direction === "in" ? "contact" : by === null ? "owner" : "bot";
  return { id, who, by, from, kind: type, text: message, at };
}
