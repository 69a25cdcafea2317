import { decisions as decisionRows } from "../../../drizzle/schema.ts";
import { scopeOf } from "../../bot/sessions/scope.ts";
import type { Incoming } from "../../model/messages.ts";
import { defineQuery } from "../../store/query.ts";
import { DEVICE } from "../gateway/run.ts";
import { describeIncoming, messageFrom, MIMETYPES, type Place } from "./incoming.ts";
import { createExpectations } from "./expectations.ts";
import type { Room } from "./room.ts";
import type { Clock } from "../gateway/clock.ts";
import type { Stubs } from "./stubs.ts";
import { storyOfTest } from "../stories/of-test.ts";
import { writeStory } from "../stories/write.ts";
import type { Conversation, Decision, Reply } from "../types.ts";
import type { Wire } from "../gateway/wire.ts";
import type { World } from "../gateway/world.ts";

/** What one conversation of a test needs. */
const DECISIONS = defineQuery(
  `SELECT wa_id AS message, "by", route, guard, trail FROM decisions WHERE device_id = ? AND chat = ? ORDER BY inbox_id`,
  {
    message: decisionRows.waId,
    by: decisionRows.by,
    route: decisionRows.route,
    guard: decisionRows.guard,
    trail: decisionRows.trail,
  },
);

export interface ConversationDeps {
  world: World;
  wire: Wire;
  clock: Clock;
  room: Room;
  place: Place;
  ownNumber: string;
  botIds(): readonly string[];
  /** What bots have logged as wrong. */
  complaints(): readonly string[];
  stubs: Pick<Stubs, "answered">;
}

/** A conversation with the bots at one place: what is written arrives as from a phone. */
export function createConversation(deps: ConversationDeps): Conversation {
  const { world, room, place } = deps;
  const { chat } = place;
  const settle = () => world.settle(chat);

  async function decisions(): Promise<Decision[]> {
    await settle();
    const { store } = await world.run();
    return store.read(DECISIONS, [DEVICE, chat]);
  }

  return {
    ...writing(deps, settle),
    ...createExpectations({ settle, room, decisions, complaints: deps.complaints }),
    replies: () => room.replies,
    transcript: () => [...room.lines],
    unseen: () => room.replies.slice(room.seen),
    decisions,
    async session(botId) {
      await settle();
      const ids = deps.botIds();
      const id = botId ?? ids[0]!;
      if (!ids.includes(id) || (botId === undefined && ids.length > 1))
        throw new Error(`session() needs the id of a bot: ${ids.join(", ")}.`);
      const scope = scopeOf(messageFrom(place, "", 0, {}));
      return (await (await world.run()).state.session(DEVICE, id, scope))?.value ?? null;
    },
    async story(title = "") {
      await settle();
      const { store } = await world.run();
      return writeStory(await storyOfTest(store, place, { title, answered: deps.stubs.answered }));
    },
  };
}

/** What people do in a chat. Each waits until the chat is quiet again. */
function writing(deps: ConversationDeps, settle: () => Promise<void>) {
  const { world, wire, clock, room, place } = deps;
  const { chat, contact } = place;
  const who = place.kind === "group" ? contact.name : "user";

  function compose(change: Partial<Incoming>): Incoming {
    const message = messageFrom(place, wire.newId(), clock.now(), change);
    room.said(message.fromMe ? "owner" : who, describeIncoming(message));
    if (message.type === "text" && !message.fromMe) room.lastFrom.set(contact.number, message.id);
    return message;
  }

  async function send(change: Partial<Incoming>): Promise<void> {
    world.receive([compose(change)]);
    await settle();
  }

  const textOf = (id: string): string => room.replies.find((reply) => reply.id === id)?.text ?? "";

  return {
    async user(message) {
      const {
        text = "",
        quote,
        mentions = [],
        late = 0,
      } = typeof message === "string" ? { text: message } : message;
      const quoted = quote === undefined ? null : { id: quote, from: chat, text: textOf(quote) };
      const timestamp = Math.floor(clock.now() / 1000) - late;
      return send({ text, mentions, quoted, timestamp });
    },
    async burst(texts) {
      world.receive(texts.map((text) => compose({ text })));
      await settle();
    },
    async vote(...labels) {
      const { id, poll } = lastOf(room, "poll", (reply) => reply.poll !== null);
      const { question, options } = poll!;
      const wrong = labels.find((label) => !options.includes(label));
      if (wrong !== undefined)
        throw new Error(`The poll has no option ${JSON.stringify(wrong)}; it has ${options.join(", ")}.`);
      const selected = options.filter((option) => labels.includes(option));
      const vote = { selected, at: clock.now() };
      return send({ type: "poll_vote", targetId: id, poll: { id, name: question, options, vote } });
    },
    media(
      kind,
      { caption = "", bytes = Buffer.from(`a ${kind}`), fileName = "", mimetype = MIMETYPES[kind] } = {},
    ) {
      const message = compose({
        type: kind,
        text: caption,
        media: { kind, mimetype, fileName, size: bytes.length },
      });
      wire.files.set(message.id, { bytes: Buffer.from(bytes), mimetype, fileName });
      world.receive([message]);
      return settle();
    },
    async react(emoji) {
      const { id } = lastOf(room, "message", () => true);
      return send({ type: "reaction", text: emoji, reaction: { id, emoji }, targetId: id });
    },
    location: ({ latitude, longitude, name = null, address = null }) =>
      send({ type: "location", text: name ?? "", location: { latitude, longitude, name, address } }),
    card: (name, ...numbers) => send({ type: "contact", text: name, contacts: [{ name, numbers }] }),
    async edit(text) {
      const targetId = room.lastFrom.get(contact.number);
      if (targetId === undefined) throw new Error(`${contact.name} has written nothing to change.`);
      return send({ type: "edit", text, targetId });
    },
    ownerTypes: (text) =>
      send({
        text,
        fromMe: true,
        sender: `${deps.ownNumber}@s.whatsapp.net`,
        number: deps.ownNumber,
        lid: null,
      }),
  } satisfies Partial<Conversation>;
}

function lastOf(room: Room, kind: string, fitting: (reply: Reply) => boolean): Reply {
  const found = room.replies.findLast(fitting);
  if (found === undefined) throw new Error(`The bot has sent no ${kind} in this chat.`);
  return found;
}
