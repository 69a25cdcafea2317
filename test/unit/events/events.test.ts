import { timeWithClock } from "../../../src/model/time.ts";
import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { eventStream } from "../../../src/api/work/event-stream.ts";
import { createEvents, type OwnEvents } from "../../../src/events/events.ts";
import { KEPT_EVENTS, MOST_READERS, MOST_READERS_OF_KEY } from "../../../src/events/feed.ts";
import { caller, device } from "../../_setup/routes-app.ts";

const START = Date.UTC(2026, 10, 21);
const set = (): { events: OwnEvents; clock: { now: number } } => {
  const clock = { now: START };
  return { events: createEvents(timeWithClock(() => clock.now)), clock };
};
const happen = (events: OwnEvents, count: number, account = "a1"): void => {
  for (let n = 0; n < count; n++)
    events.publish(account, {
      name: "device",
      number: device.number,
      record: () => ({ ...device, since: n }),
    });
};
const told = () => new Promise((resolve) => setImmediate(resolve));
const sinceOf = (taken: { record: unknown }[] | null) =>
  taken!.map(({ record }) => (record as { since: number }).since);

describe("the events of an account", () => {
  it("are not even asked for while nobody listens, nor for an account that nobody listens to", async () => {
    const { events } = set();
    let asked = 0;
    const publish = (account: string) =>
      events.publish(account, { name: "device", number: "1", record: () => ++asked });

    publish("a1");
    events.read("a2", "key", null);
    publish("a1");
    await told();

    expect([events.hasListeners("a1"), events.hasListeners("a2"), asked]).toEqual([false, true, 0]);
  });

  it("come in their order under rising ids, slow records too", async () => {
    const { events } = set();
    const reader = events.read("a1", "key", null)!;
    const slow = new EventEmitter();
    events.publish("a1", { name: "device", number: "1", record: () => once(slow, "read") });
    events.publish("a1", { name: "decision", number: "1", record: () => "second" });
    await told();
    expect(reader.take(10)).toEqual([]);

    slow.emit("read", "first");
    await reader.wait(10_000);
    await told();

    const taken = reader.take(10)!;
    expect(taken.map(({ record }) => record)).toEqual([["first"], "second"]);
    expect(taken[1]!.id).toBeGreaterThan(taken[0]!.id);
    expect(taken[0]!.id).toBeGreaterThan(START * 1000);
  });

  it("that wait under the same key are told once", async () => {
    const { events } = set();
    const reader = events.read("a1", "key", null)!;
    for (let n = 0; n < 3; n++)
      events.publish("a1", { name: "message.out", number: "1", key: "m", record: () => "the message" });
    await told();
    expect(reader.take(10)).toHaveLength(1);
  });

  it("are kept for who comes back: the last 1,000, also those of the time without listeners", async () => {
    const { events, clock } = set();
    const first = events.read("a1", "key", null)!;
    happen(events, 1);
    await told();
    const { id } = first.take(1)![0]!;
    first.close();
    happen(events, 3);
    await told();

    expect(sinceOf(events.read("a1", "key", id)!.take(10))).toEqual([0, 1, 2]);
    for (let round = 0; round < KEPT_EVENTS / 500; round++) {
      happen(events, 500);
      await told();
    }
    expect(events.read("a1", "key", id)!.take(5_000)).toHaveLength(KEPT_EVENTS);
    expect(events.read("a1", "key", 1)!.take(5_000)).toHaveLength(KEPT_EVENTS);
    expect(events.read("a1", "key", id * 2)!.take(5_000)).toEqual([]);
    expect(clock.now).toBe(START);
  });

  it("are forgotten an hour after the last listener left", () => {
    const { events, clock } = set();
    events.read("a1", "key", null)!.close();
    clock.now += 3_599_999;
    expect(events.hasListeners("a1")).toBe(true);
    clock.now += 1;
    expect(events.hasListeners("a1")).toBe(false);
  });

  it("leave a reader behind that does not take them", async () => {
    const { events } = set();
    const slow = events.read("a1", "key", null)!;
    happen(events, KEPT_EVENTS / 2);
    await slow.wait(1000);
    happen(events, KEPT_EVENTS / 2);
    await told();
    expect(slow.isBehind()).toBe(false);
    happen(events, 1);
    await told();

    expect(slow.isBehind()).toBe(true);
    expect(slow.take(1)).toBeNull();
  });

  it("have at most 50 listeners, and no key more than 20 of them", () => {
    const { events } = set();
    const listen = (keyId: string) => events.read("a1", keyId, null);
    const first = Array.from({ length: MOST_READERS_OF_KEY }, () => listen("k1")!);
    expect(listen("k1")).toBeNull();
    for (let count = first.length; count < MOST_READERS; count++) expect(listen(`k${count}`)).not.toBeNull();
    expect(listen("last")).toBeNull();
    first[0]!.close();
    expect(listen("k1")).not.toBeNull();
    expect(listen("last")).toBeNull();
  });
});

const text = async (reader: ReadableStreamDefaultReader<Uint8Array>) =>
  new TextDecoder().decode((await reader.read()).value);

const everybody = async () => true;

describe("the stream of one listener", () => {
  it("writes a comment at once, another while nothing happens, and ends with the gateway", async () => {
    const ending = new AbortController();
    const reader = set().events.read("a1", "key", null)!;
    const stream = eventStream({
      mayReach: everybody,
      reader,
      caller: async () => caller,
      ending: ending.signal,
      heartbeatMs: 20,
    });
    const out = stream.getReader();

    expect(await text(out)).toBe(": connected\n\n");
    expect(await text(out)).toBe(":\n\n");
    ending.abort();
    expect((await out.read()).done).toBe(true);
  });

  it("tells nothing more once the key is gone", async () => {
    const { events } = set();
    let known: typeof caller | null = caller;
    const reader = events.read("a1", "key", null)!;
    const out = eventStream({
      mayReach: everybody,
      reader,
      caller: async () => known,
      ending: new AbortController().signal,
    }).getReader();
    await text(out);
    happen(events, 1);
    expect(await text(out)).toContain("event: device");

    known = null;
    happen(events, 1);

    expect((await out.read()).done).toBe(true);
  });

  it("cuts off a socket that takes nothing, so that nothing is kept for it", async () => {
    const { events } = set();
    const reader = events.read("a1", "key", null)!;
    const stream = eventStream({
      mayReach: everybody,
      reader,
      caller: async () => caller,
      ending: new AbortController().signal,
      heartbeatMs: 5,
    });
    for (let round = 0; round < 3; round++) {
      happen(events, 500);
      await told();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }

    const out = stream.getReader();
    await expect(
      (async () => {
        while (!(await out.read()).done);
      })(),
    ).rejects.toThrow("too slow");
  });
});
