import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAlerts, type Alerts } from "../../../src/alerts/alerts.ts";
import type { WatchedNumber } from "../../../src/alerts/conditions.ts";
import { createDiskWatch } from "../../../src/alerts/disk.ts";
import { createLedger } from "../../../src/alerts/ledger.ts";
import { postAlerts } from "../../../src/alerts/post.ts";
import { createTeller, pauseAfter } from "../../../src/alerts/telling.ts";
import { createWatch } from "../../../src/alerts/watch.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../src/model/time.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import type { Store } from "../../../src/store/store.ts";
import { until } from "../../_setup/world.ts";
import { listeningLog } from "../bot/messages.ts";
import { temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { clock, receiver, status, type Receiver } from "../webhooks/gateway.ts";
import { mountSmallDisk } from "../../faults/small-disk.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const NUMBER: WatchedNumber = {
  id: 1,
  accountId: "acc1",
  number: "31600000001",
  state: "connected",
  since: 0,
  lid: "1@lid",
};

interface Told {
  alert: string;
  status: string;
  device: string | null;
  text: string;
}

/** Everything but timers: what would look and tell now and then does so when the test says. */
async function watched(hook: Receiver, change: Partial<WatchedNumber> = {}) {
  const time = clock();
  const store = await temporaryStore({}, time.now);
  const device = { ...NUMBER, since: time.now(), ...change };
  const all = [device];
  const off: Record<"webhook" | "listener", "gone" | "failing" | null> = { webhook: null, listener: null };
  const open = () => {
    const { log, text } = listeningLog();
    const http = createSafeFetch({ allowPrivateNetwork: true });
    onTestFinished(() => http.close());
    const config = { alertUrl: hook.url, alertSecret: SECRET, publicUrl: "https://chat.example.com" };
    const ledger = createLedger(store);
    const numbers = {
      all: () => all,
      get: (id: number) => all.find((one) => one.id === id) ?? null,
      advice: () => "Do something.",
      webhookOff: () => off.webhook,
      listenerOff: () => off.listener,
    };
    const watch = createWatch(numbers, ledger, store);
    const post = (alerts: Parameters<typeof postAlerts>[1]) =>
      postAlerts({ config, http, time: store.time }, alerts);
    const teller = createTeller({ store, log, ledger, post });
    return {
      ledger,
      logged: text,
      teller,
      async look() {
        await watch.look();
        await teller.tell();
      },
    };
  };
  const move = (state: string): void => void Object.assign(device, { state, since: time.now() });
  const turn = (what: keyof typeof off, to: (typeof off)["webhook"]): void => void (off[what] = to);
  return { ...time, store, device, all, open, move, turn };
}

const toldTo = (hook: Receiver): Told[] => hook.posts.flatMap(({ event }) => event["alerts"] as Told[]);
const short = (hook: Receiver): string[] => toldTo(hook).map(({ alert, status: of }) => `${alert} ${of}`);

describe("what an operator is told of numbers", () => {
  it("a number is logged out: once, signed, and once when it is connected again, however often anybody looks", async () => {
    const hook = await receiver();
    const world = await watched(hook);
    const { look } = world.open();
    await look();
    expect(hook.posts).toEqual([]);

    world.move("logged_out");
    await look();
    await look();
    expect(short(hook)).toEqual(["number_logged_out open"]);
    const [{ headers, body, event }] = hook.posts as [(typeof hook.posts)[number]];
    new Webhook(SECRET).verify(body, headers as Record<string, string>);
    expect(event).toMatchObject({
      gateway: "https://chat.example.com",
      text: "+31600000001 was logged out. Do something.",
      alerts: [{ account: "acc1", device: "31600000001", until: null, advice: "Do something." }],
    });

    // Somebody links it again: it is not over before it is.
    for (const state of ["linking", "logged_out", "linking", "connecting"]) {
      world.move(state);
      await look();
    }
    expect(short(hook)).toEqual(["number_logged_out open"]);
    world.move("connected");
    await look();
    await look();
    expect(short(hook)).toEqual(["number_logged_out open", "number_logged_out over"]);
    expect(toldTo(hook)[1]!.text).toBe("+31600000001 is connected again.");
    const ids = toldTo(hook).map((one) => (one as unknown as { id: string }).id);
    expect(new Set(ids).size).toBe(1);
  });

  it("a number stays away for five minutes: not before, and a restart neither ends nor repeats it", async () => {
    const hook = await receiver();
    const world = await watched(hook);
    world.move("connecting");
    await world.open().look();
    world.forward(4 * MINUTE_MS + 50 * SECOND_MS);
    await world.open().look();
    expect(hook.posts).toEqual([]);
    world.forward(20 * SECOND_MS);
    await world.open().look();
    expect(short(hook)).toEqual(["number_away open"]);

    // A start connects it anew.
    world.move("connecting");
    await world.open().look();
    expect(short(hook)).toEqual(["number_away open"]);
    world.move("connected");
    await world.open().look();
    expect(short(hook)).toEqual(["number_away open", "number_away over"]);
  });

  it("a number that waits for its owner at its first link is not away; one that was linked is", async () => {
    const hook = await receiver();
    const world = await watched(hook, { lid: null, state: "action_required", since: 0 });
    await world.open().look();
    expect(hook.posts).toEqual([]);
    world.device.lid = "1@lid";
    await world.open().look();
    expect(short(hook)).toEqual(["number_away open"]);
  });

  it("a listener is switched off beside a webhook that goes on, and is told apart from it", async () => {
    const hook = await receiver();
    const world = await watched(hook);
    const { look } = world.open();
    world.turn("listener", "gone");
    await look();
    await look();
    expect(short(hook)).toEqual(["webhook_off open"]);
    expect(toldTo(hook)[0]!.text).toBe("A listener of +31600000001 was switched off: it answered 410 Gone.");
    world.turn("webhook", "failing");
    world.turn("listener", null);
    await look();
    expect(short(hook).slice(1).toSorted()).toEqual(["webhook_off open", "webhook_off over"]);
    expect(toldTo(hook).map(({ text }) => text)).toContain(
      "The listener of +31600000001 is not switched off any more.",
    );
    world.all.length = 0;
    await look();
    expect(toldTo(hook).at(-1)).toMatchObject({ status: "over", text: "The number was removed." });
  });

  it("a webhook is switched off, a number blocked, and both removed", async () => {
    const hook = await receiver();
    const world = await watched(hook);
    const { look } = world.open();
    world.turn("webhook", "failing");
    world.move("blocked");
    await look();
    expect(short(hook).toSorted()).toEqual(["number_blocked open", "webhook_off open"]);
    world.turn("webhook", null);
    await look();
    expect(short(hook).at(-1)).toBe("webhook_off over");
    world.all.length = 0;
    await look();
    expect(toldTo(hook).at(-1)).toMatchObject({
      alert: "number_blocked",
      status: "over",
      text: "The number was removed.",
    });
    expect(hook.posts).toHaveLength(3);
  });

  it("two nodes that notice the same thing tell it once", async () => {
    const hook = await receiver();
    const world = await watched(hook);
    const [one, other] = [world.open(), world.open()];
    // Both have read what was told: nothing.
    await one.look();
    await other.look();
    world.move("logged_out");
    await one.look();
    await other.look();
    expect(short(hook)).toEqual(["number_logged_out open"]);
    world.move("connected");
    await other.look();
    await one.look();
    expect(short(hook)).toEqual(["number_logged_out open", "number_logged_out over"]);
  });

  it("hundreds of numbers are told of in a few requests", async () => {
    const hook = await receiver();
    const world = await watched(hook);
    for (let id = 2; id <= 250; id++)
      world.all.push({ ...NUMBER, id, number: String(31600000000 + id), state: "logged_out" });
    await world.open().look();
    expect(toldTo(hook)).toHaveLength(249);
    expect(hook.posts).toHaveLength(3);
  });
});

describe("an alert that cannot be delivered", () => {
  it("is tried again with longer and longer pauses, said once in the log, and told when the receiver is back", async () => {
    const hook = await receiver();
    hook.answer(status(500));
    const world = await watched(hook, { state: "logged_out" });
    const { look, logged, teller } = world.open();
    await look();
    await look();
    expect(hook.posts).toHaveLength(1);
    world.forward(pauseAfter(1, null));
    await look();
    world.forward(pauseAfter(1, null));
    await look();
    expect(hook.posts).toHaveLength(2);
    world.forward(pauseAfter(2, null));
    // Another process, or a start, goes on with the same pause.
    const again = world.open();
    await again.look();
    expect(hook.posts).toHaveLength(3);
    expect(new Set(hook.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(logged().match(/"level":40.*could not be delivered/g)).toHaveLength(1);
    expect(await again.teller.state()).toMatchObject({ failures: 3, lastError: "answered 500" });
    expect(logged()).not.toContain("/hook");

    hook.answer(status(204));
    world.forward(pauseAfter(3, null));
    await again.look();
    expect(short(hook).slice(3)).toEqual(["number_logged_out open"]);
    expect(await again.teller.state()).toMatchObject({ failures: 0, failingSince: null });
    expect((await teller.state()).failures).toBe(2);
  });

  it("waits as long as the receiver asks, and no longer than ten minutes otherwise", () => {
    expect([1, 2, 3, 30].map((failures) => pauseAfter(failures, null))).toEqual([
      5 * SECOND_MS,
      10 * SECOND_MS,
      20 * SECOND_MS,
      10 * MINUTE_MS,
    ]);
    expect(pauseAfter(1, 90)).toBe(90 * SECOND_MS);
    expect(pauseAfter(1, 999_999)).toBe(60 * MINUTE_MS);
  });

  it("is told as over when it began and ended meanwhile, and given up after a day", async () => {
    const hook = await receiver();
    hook.answer(status(500));
    const world = await watched(hook, { state: "logged_out" });
    const { look, teller, logged } = world.open();
    await look();
    world.move("connected");
    await look();
    hook.answer(status(200));
    world.forward(10 * MINUTE_MS);
    await look();
    expect(short(hook)).toEqual(["number_logged_out open", "number_logged_out over"]);

    hook.answer(status(500));
    world.move("blocked");
    await look();
    world.forward(DAY_MS + MINUTE_MS);
    await look();
    expect(await teller.state()).toMatchObject({ givenUp: 1 });
    expect(logged()).toContain("given up");
    hook.answer(status(200));
    world.forward(60 * MINUTE_MS);
    await look();
    expect(
      short(hook)
        .slice(2)
        .filter((one) => one === "number_blocked open"),
    ).toHaveLength(1);
  });
});

describe("what an operator is told of the machine", () => {
  it("the disk runs low, and has room again", async () => {
    const disk = mountSmallDisk(700);
    const store = await temporaryStore();
    const ledger = createLedger(store);
    const look = createDiskWatch({ dataDir: disk.folder, node: null }, ledger, store.now);
    await look();
    expect(await ledger.open(10)).toEqual([]);
    writeFileSync(join(disk.folder, "much"), Buffer.alloc(300 * 1024 ** 2));
    await look();
    await look();
    expect(await ledger.open(10)).toMatchObject([
      { alert: "disk_low", text: expect.stringMatching(/ 400 MB left/) },
    ]);
    writeFileSync(join(disk.folder, "much"), "");
    await look();
    expect(await ledger.open(10)).toEqual([]);
    expect(await ledger.due(store.now(), 10)).toMatchObject([{ record: { status: "over" } }]);
  });

  const alertsOn = (store: Store, hook: Receiver, dataDir: string): Alerts =>
    createAlerts({
      config: { alertUrl: hook.url, alertSecret: null, publicUrl: "http://127.0.0.1:3000", dataDir },
      store,
      log: listeningLog().log,
      cluster: alone(),
      http: createSafeFetch({ allowPrivateNetwork: true }),
      numbers: {
        all: () => [],
        get: () => null,
        advice: () => null,
        webhookOff: () => null,
        listenerOff: () => null,
      },
    });

  it("a start after an end without order: once for each, one message for many, none after an end in order", async () => {
    const hook = await receiver();
    const dataDir = temporaryFolder();
    const store = await temporaryStore();
    const start = async (): Promise<Alerts> => {
      const alerts = alertsOn(store, hook, dataDir);
      await alerts.start();
      return alerts;
    };
    const first = await start();
    await first.stop();
    await first.ended();
    expect(existsSync(join(dataDir, "running"))).toBe(false);
    await (await start()).stop();
    const third = await start();
    await until(() => hook.posts.length === 1);
    expect(short(hook)).toEqual(["restarted over"]);
    expect(hook.posts[0]!.headers["webhook-signature"]).toBeUndefined();
    await third.stop();

    // It falls over again and again: what comes within ten minutes is told together, later.
    await (await start()).stop();
    await (await start()).stop();
    const now = store.now();
    const ledger = createLedger(store);
    expect(await ledger.due(now, 10)).toEqual([]);
    expect(await ledger.due(now + 10 * MINUTE_MS, 10)).toMatchObject([
      { record: { alert: "restarted", text: expect.stringContaining("This happened 2 times.") } },
    ]);
    expect(readFileSync(join(dataDir, "running"), "utf8")).toBe(`${process.pid}\n`);
  });
});
