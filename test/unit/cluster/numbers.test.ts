import { describe, expect, it, onTestFinished } from "vitest";
import { createNumbers, type Numbers } from "../../../src/numbers/numbers.ts";
import { NUMBER_CHANGED } from "../../../src/numbers/questions.ts";
import { partitionOf } from "../../../src/model/nodes/cluster.ts";
import { NO_INTAKE } from "../../../src/store/write/intake.ts";
import { Phone } from "../../properties/phone.ts";
import { silentLog } from "../store/temporary.ts";
import { createTestBus, hasSqld, nodesOnOneServer, type Node } from "./shared-server.ts";

/** Two processes on one database; which of them has a partition is said by the test. */
describe.skipIf(!hasSqld)("numbers of two nodes", () => {
  const open = nodesOnOneServer();
  let accounts = 0;

  async function setUp(limit: number | null = null) {
    const bus = createTestBus();
    const account = `account ${++accounts}`;
    const owner = new Map<number, string>();
    const hasIt = (name: string) => (deviceId: number) => owner.get(partitionOf(deviceId)) === name;
    const gone: number[] = [];
    const fresh: number[] = [];
    const states: string[] = [];

    async function start(name: string) {
      const { store, cluster, news, config } = await open(name, bus);
      const phone = new Phone();
      const numbers = createNumbers({
        store,
        log: silentLog(config),
        cluster: { ...cluster, ownership: { ...cluster.ownership, owns: hasIt(name) } },
        news,
        whatsapp: phone.whatsapp(),
        async erase(deviceId, beside) {
          const row = { sql: "DELETE FROM devices WHERE id = ?", args: [deviceId] };
          await store.writer.commit([row, ...beside]);
        },
        deviceLimit: async () => limit,
        onMessages: () => NO_INTAKE,
        onAcknowledged: async () => undefined,
        onNew: async (deviceId) => void fresh.push(deviceId),
        onGone: (deviceId) => void gone.push(deviceId),
        tell(event) {
          if (event.type === "device") states.push(`${name} ${event.deviceId} ${event.record.state}`);
        },
      });
      await numbers.load();
      news.start();
      onTestFinished(() => numbers.stop());
      return { numbers, store, news, phone };
    }

    const [a, b] = [await start("a"), await start("b")];
    return { a, b, bus, account, owner, gone, fresh, states, start };
  }

  const find = ({ numbers }: { numbers: Numbers }, account: string, number: string): number | null =>
    numbers.find(account, number)?.id ?? null;

  const set = ({ store, news }: Pick<Node, "store" | "news">, change: string, id: number) =>
    store.writer.commit([
      { sql: `UPDATE devices SET ${change} WHERE id = ?`, args: [id] },
      ...news.of(NUMBER_CHANGED, id),
    ]);

  it("are known to both, whichever of them registers one, and gone on both when one is removed", async () => {
    const { a, b, account, owner, gone } = await setUp();
    const one = await a.numbers.register(account, "31600000001");
    const two = await b.numbers.register(account, "31600000002");
    await expect
      .poll(() => [find(b, account, one.number), find(a, account, two.number)])
      .toEqual([one.id, two.id]);
    for (const { numbers } of [a, b])
      expect(numbers.list(account).map(({ number }) => number)).toEqual([one.number, two.number]);

    owner.set(partitionOf(one.id), "a");
    await a.numbers.take([one.id]);
    await a.numbers.remove(one.id);
    expect(find(a, account, one.number)).toBeNull();
    await expect.poll(() => find(b, account, one.number)).toBeNull();
    expect(gone).toEqual([one.id]);
  });

  it("are one when both register the same at once, and both are given it", async () => {
    const { a, b, account } = await setUp(1);
    for (let round = 0; round < 5; round++) {
      const number = `3160000001${round}`;
      const place = `${account} ${round}`;
      const [of, other] = await Promise.all([
        a.numbers.register(place, number),
        b.numbers.register(place, number),
      ]);
      expect(of.id).toBe(other.id);
    }
  });

  it("are no more than the plan allows, however many nodes are asked at once", async () => {
    const { a, b, account } = await setUp(3);
    const asked = Array.from({ length: 10 }, (_, n) =>
      (n % 2 === 0 ? a : b).numbers.register(account, `3160000002${n}`).then(
        () => "registered",
        (error: { code: string }) => error.code,
      ),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === "registered")).toHaveLength(3);
    expect(answers.filter((answer) => answer === "PLAN_LIMIT")).toHaveLength(7);
  });

  it("that are new live where their partition is, also without the bus", async () => {
    const { a, b, bus, account, owner, fresh } = await setUp();
    bus.cut();
    for (let partition = 0; partition < 256; partition++) owner.set(partition, "b");
    const { id } = await a.numbers.register(account, "31600000031");
    expect(a.numbers.ids()).toEqual([]);
    await b.news.look();
    await expect.poll(() => fresh).toEqual([id]);
    expect(await b.numbers.take([id])).toEqual([id]);
    expect(b.numbers.ids()).toEqual([id]);
  });

  it("are found, and linked, for whoever asks at another node before it has heard of them", async () => {
    const { a, b, bus, account } = await setUp();
    bus.cut();
    const { id } = await a.numbers.register(account, "31600000051");
    expect(find(b, account, "31600000051")).toBeNull();
    await b.numbers.catchUp(account, "31600000051");
    expect(find(b, account, "31600000051")).toBe(id);
    expect(b.numbers.isLinked(id)).toBe(false);

    await set(a, "state = 'connected'", id);
    await b.numbers.catchUp(account, "31600000051");
    expect(b.numbers.isLinked(id)).toBe(true);
    await b.numbers.catchUp(account, "31600000052");
    expect(find(b, account, "31600000052")).toBeNull();
  });

  it("begin with their rows when they come, and say nothing more where they were", async () => {
    const { a, b, account, owner, states } = await setUp();
    const { id } = await a.numbers.register(account, "31600000041");
    await expect.poll(() => find(b, account, "31600000041")).toBe(id);
    owner.set(partitionOf(id), "a");
    await a.numbers.take([id]);
    // As the owner writes it under its lease.
    await set(a, "calls = 'reject'", id);

    await a.numbers.leave([id]);
    owner.set(partitionOf(id), "b");
    expect(await b.numbers.take([id])).toEqual([id]);
    expect(b.numbers.get(id)?.calls).toBe("reject");
    expect([a.numbers.ids(), b.numbers.ids()]).toEqual([[], [id]]);
    expect(a.numbers.connection(id)).toBeNull();
    await set(b, "calls_text = 'Please write.'", id);
    await expect.poll(() => a.numbers.get(id)?.callsText).toBe("Please write.");
    expect(states.filter((state) => state.startsWith("a "))).toEqual([]);
  });

  it("stay replaced when they were linked here; those that another node may still have come back", async () => {
    const { a, b, account, owner } = await setUp();
    for (let partition = 0; partition < 256; partition++) owner.set(partition, "a");
    const number = "31600000061";
    const { id } = await a.numbers.register(account, number);
    await a.numbers.take([id]);
    const linking = a.numbers.link(id, { force: false, method: "qr" });
    await expect.poll(() => a.phone.current?.kind).toBe("registration");
    a.phone.showQr();
    await linking;
    a.phone.scan(number);
    await expect.poll(() => a.phone.current?.kind).toBe("login");
    a.phone.logIn();
    a.phone.close(440);
    expect(a.numbers.get(id)?.state).toBe("replaced");

    await set(a, "state = 'connected'", id);
    await a.numbers.leave([id]);
    for (let partition = 0; partition < 256; partition++) owner.set(partition, "b");
    Object.assign(b.phone, { credentials: a.phone.credentials, deviceId: id });
    await b.numbers.take([id]);
    b.numbers.begin([id]);
    await expect.poll(() => b.phone.current?.kind).toBe("login");
    b.phone.logIn();
    b.phone.close(440);
    expect(b.numbers.get(id)?.state).toBe("connecting");
  });
});
