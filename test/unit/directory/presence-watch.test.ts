import { expect, it } from "vitest";
import { createPresenceWatch, type PresenceEvent } from "../../../src/directory/presence-watch.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import { SECOND_MS } from "../../../src/model/time.ts";
import type { Presence } from "../../../src/whatsapp/port/happenings.ts";
import { manualClock, rest } from "../outbox/harness.ts";

const DEVICE = 1;
const START = 1_700_000_000_000;
const ANA = "4915100000001@s.whatsapp.net";
const BEN = "4915100000002@s.whatsapp.net";
const BEN_LID = "123456789@lid";
const typing = (chat: string): Presence => ({ chat, person: chat, state: "typing", lastSeen: null });

function openWatch() {
  const { time, advance } = manualClock(START);
  /** What the line was told, in its order. */
  const told: string[] = [];
  const heard: PresenceEvent[] = [];
  let lookingUp: (jid: string) => Promise<string> = async (jid) => jid;
  let subscribing: (chat: string) => Promise<void> = async () => undefined;
  const line = {
    async watchPresence(chat: string) {
      told.push(chat);
      await subscribing(chat);
    },
    goOffline: async () => void told.push("offline"),
  };
  const watch = createPresenceWatch({
    time,
    cluster: alone(),
    canonicalChat: (_, jid) => lookingUp(jid),
    connection: () => line,
    observe: (event) => heard.push(event),
  });
  return {
    watch,
    told,
    heard,
    advance,
    begin: (chat: string, seconds = 60) => watch.watch(DEVICE, { keys: [chat], seconds }),
    subscribe: (by: typeof subscribing) => (subscribing = by),
    lookUp: (by: typeof lookingUp) => (lookingUp = by),
    /** @returns who is typing, as far as anybody is told */
    async type(...chats: string[]) {
      const before = heard.length;
      for (const chat of chats) watch.seen(DEVICE, typing(chat));
      await rest();
      return heard.slice(before).map(({ chat }) => chat);
    },
  };
}

it("tells of what is watched, until its time is over; with the last of them the number is offline", async () => {
  const { begin, type, told, advance } = openWatch();
  expect(await begin(ANA)).toBe(START + 60 * SECOND_MS);
  await begin(BEN, 90);
  expect(await type(ANA, BEN)).toEqual([ANA, BEN]);
  // Whoever asks again has it for longer.
  await advance(50 * SECOND_MS);
  await begin(ANA, 30);
  await advance(20 * SECOND_MS);
  expect(await type(ANA, BEN)).toEqual([ANA, BEN]);
  await advance(15 * SECOND_MS);
  expect(await type(ANA, BEN)).toEqual([BEN]);
  expect(told).not.toContain("offline");
  await advance(10 * SECOND_MS);
  expect(await type(ANA, BEN)).toEqual([]);
  expect(told.at(-1)).toBe("offline");
});

it("watches two chats of which both are asked for first, and goes on where it is asked again as it ends", async () => {
  const { begin, type, subscribe, advance, told } = openWatch();
  await Promise.all([begin(ANA), begin(BEN)]);
  expect(await type(ANA, BEN)).toEqual([ANA, BEN]);

  // WhatsApp is told of it in the moment in which the earlier time is over.
  subscribe(async () => advance(60 * SECOND_MS));
  await begin(ANA, 120);
  expect(await type(ANA)).toEqual([ANA]);
  expect(told.at(-1)).not.toBe("offline");
});

it("tells in the order of what WhatsApp says, with its time, however long it takes to find out whose it is", async () => {
  const { watch, begin, heard, lookUp, advance } = openWatch();
  await begin(BEN);
  let found = (_jid: string): void => undefined;
  const late = new Promise<string>((resolve) => (found = resolve));
  lookUp((jid) => (jid === BEN_LID ? late : Promise.resolve(jid)));
  watch.seen(DEVICE, typing(BEN_LID));
  await advance(SECOND_MS);
  watch.seen(DEVICE, { ...typing(BEN), state: "paused" });
  await rest();
  found(BEN);
  await rest();
  expect(heard.map(({ state, at }) => [state, at - START])).toEqual([
    ["typing", 0],
    ["paused", SECOND_MS],
  ]);
  // What cannot be found out holds up nothing.
  lookUp(async () => {
    throw new Error("The database is away.");
  });
  watch.seen(DEVICE, typing(BEN));
  await rest();
  lookUp(async (jid) => jid);
  watch.seen(DEVICE, { ...typing(BEN), state: "recording" });
  await rest();
  expect(heard.slice(2).map(({ state }) => state)).toEqual(["recording"]);
});

it("of a number that tells more than can be looked up, two hundred wait, and it goes on when they are told", async () => {
  const { watch, begin, type, heard, lookUp } = openWatch();
  await begin(ANA);
  let answer = (): void => undefined;
  const away = new Promise<void>((resolve) => (answer = resolve));
  lookUp(async (jid) => {
    await away;
    return jid;
  });
  for (let count = 0; count < 1000; count++) watch.seen(DEVICE, typing(ANA));
  answer();
  await expect.poll(() => heard.length).toBe(200);
  expect(await type(ANA)).toEqual([ANA]);
});

it("what WhatsApp does not take is not watched", async () => {
  const { begin, type, subscribe, told, advance } = openWatch();
  subscribe(async () => {
    throw new Error("Connection Closed");
  });
  await expect(begin(ANA)).rejects.toThrow("Connection Closed");
  expect(await type(ANA)).toEqual([]);
  expect(told.at(-1)).toBe("offline");

  // What was promised before holds.
  subscribe(async () => undefined);
  await begin(ANA, 60);
  subscribe(async () => {
    throw new Error("Connection Closed");
  });
  await expect(begin(ANA, 90)).rejects.toThrow("Connection Closed");
  await advance(50 * SECOND_MS);
  expect(await type(ANA)).toEqual([ANA]);
  await advance(20 * SECOND_MS);
  expect(await type(ANA)).toEqual([]);
});

it("watches a hundred chats at most, and says when there is room again", async () => {
  const { begin } = openWatch();
  const chats = Array.from({ length: 100 }, (_, index) => `${4_915_100_000_000 + index}@s.whatsapp.net`);
  for (const chat of chats) await begin(chat, 60);
  await expect(begin("4915200000000@s.whatsapp.net", 600)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    details: { retryAfter: 60 },
  });
  await begin(chats[0]!);
});

it("tells a new connection what is watched, and forgets it with the number", async () => {
  const { begin, watch, told, type } = openWatch();
  await begin(ANA);
  told.length = 0;
  watch.online(DEVICE);
  expect(told).toEqual([ANA]);
  watch.forget(DEVICE);
  watch.online(DEVICE);
  expect(told).toEqual([ANA]);
  expect(await type(ANA)).toEqual([]);
});
