import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../src/simulator/index.ts";
import type { LibrarySimulator } from "../../../src/simulator/simulator.ts";
import type { ContactHandle } from "../../../src/simulator/types.ts";
import { type BinaryNode, child, children } from "../../../src/simulator/wire/nodes.ts";

const ANNA = "491510000001";
const BEN = "491510000002";
const OWNER = "491600000001";

let sim: LibrarySimulator;
/** Violations that a test has provoked and checked itself. */
let expected: string[];

beforeEach(async () => {
  sim = (await startSimulator({ seed: "people", controlPort: false })) as LibrarySimulator;
  expected = [];
});

afterEach(async () => {
  await sim.settle();
  for (const rule of expected) await sim.expectViolation(rule);
  const violations = await sim.violations();
  await sim.stop();
  // oxlint-disable-next-line vitest/no-standalone-expect -- nothing that a phone does may break a rule
  expect(violations).toEqual([]);
});

/** Where a message was read: `number:device`. */
async function readersOf(text: string): Promise<string[]> {
  const entries = await sim.transcript();
  return entries
    .filter((entry) => entry.text === text && entry.decrypted)
    .map(({ to, device }) => `${to}:${device}`);
}

/** Damages the ciphertext of the next `times` messages of one person. */
function damage(number: string, times: number): void {
  let left = times;
  sim.server.hooks.received.push(({ device }, node) => {
    if (device?.account.number !== number || node.tag !== "message" || left === 0) return false;
    left -= 1;
    for (const enc of encsOf(node)) {
      const content = enc.content as Uint8Array;
      content[content.length - 1]! ^= 1;
    }
    return false;
  });
}

function encsOf(node: BinaryNode): BinaryNode[] {
  return children(node).flatMap((part) => (part.tag === "enc" ? [part] : encsOf(part)));
}

/** Every stanza that people send from now on. */
function listen(): BinaryNode[] {
  const heard: BinaryNode[] = [];
  sim.server.hooks.received.push((_, node) => {
    heard.push(node);
    return false;
  });
  return heard;
}

/** What one whole simulation with a fixed seed makes up. */
async function aRun() {
  const other = await startSimulator({ seed: "fixed", controlPort: false });
  await other.addContact(ANNA);
  const ben = await other.addContact(BEN);
  const { id } = await ben.sendText(ANNA, "hello");
  const { server } = other as LibrarySimulator;
  const { identity, registrationId, preKeys } = server.world.account(BEN).devices.get(0)!;
  await other.stop();
  return { id, identity, registrationId, preKeys };
}

describe("a text between people", () => {
  it("is read by all devices of the other side and of the writer, at the first try", async () => {
    const [anna, ben] = [
      await sim.addContact(ANNA, { devices: 2 }),
      await sim.addContact(BEN, { devices: 3 }),
    ];

    await anna.sendText(BEN, "hello", { device: 1 });
    await ben.waitForMessage({ text: "hello" });
    await sim.settle();

    expect((await readersOf("hello")).sort()).toEqual([`${ANNA}:0`, `${BEN}:0`, `${BEN}:1`, `${BEN}:2`]);
    expect((await sim.transcript()).map(({ tries }) => tries)).toEqual([0, 0, 0, 0]);
  });

  it("starts with a pre-key message and goes on without, once it was answered", async () => {
    const [anna, ben] = [await sim.addContact(ANNA), await sim.addContact(BEN)];
    await anna.sendText(BEN, "1");
    await anna.sendText(BEN, "2");
    await ben.waitForMessage({ text: "2" });
    await ben.sendText(ANNA, "answer");
    await anna.waitForMessage({ text: "answer" });
    await anna.sendText(BEN, "3");
    await ben.waitForMessage({ text: "3" });

    expect((await ben.messages()).map(({ encType }) => encType)).toEqual(["pkmsg", "pkmsg", "msg"]);
  });

  it("uses one session whether the chat is addressed by number or by LID", async () => {
    const [anna, ben] = [await sim.addContact(ANNA, { addressing: "lid" }), await sim.addContact(BEN)];
    await anna.sendText(BEN, "by LID");
    await ben.waitForMessage({ text: "by LID" });
    await ben.sendText(ANNA, "by number");
    await anna.waitForMessage({ text: "by number" });
    await anna.sendText(BEN, "by LID again");

    expect(await ben.waitForMessage({ text: "by LID again" })).toMatchObject({ encType: "msg" });
    expect(await sim.countStanzas({ contact: ANNA, xmlns: "encrypt", direction: "in", child: "key" })).toBe(
      1,
    );
    expect(await sim.countStanzas({ contact: BEN, xmlns: "encrypt", direction: "in", child: "key" })).toBe(0);
  });

  it("is confirmed with one receipt, which the writer acknowledges", async () => {
    const [anna, ben] = [await sim.addContact(ANNA), await sim.addContact(BEN)];
    const heard = listen();

    const { id } = await anna.sendText(BEN, "hello");
    await ben.waitForMessage({ id });
    await sim.settle();

    const about = heard
      .filter(({ attrs }) => attrs.id === id)
      .map(({ tag, attrs }) => [tag, attrs.class, attrs.to]);
    expect(about).toEqual([
      ["message", undefined, ben.lid],
      ["receipt", undefined, anna.lid],
      ["ack", "receipt", ben.lid],
    ]);
  });

  it("waits for whoever is not there and needs no second key query for the rest", async () => {
    const anna = await sim.addContact(ANNA);
    await sim.addNumber(OWNER);
    await Promise.all(["a", "b", "c", "d"].map((text) => anna.sendText(OWNER, text)));
    await sim.settle();

    expect((await readersOf("d")).length).toBe(1);
    expect((await sim.transcript()).map(({ text }) => text)).toEqual(["a", "b", "c", "d"]);
    expect(await sim.countStanzas({ contact: ANNA, direction: "in", child: "key" })).toBe(1);
  });

  it("is refused before anything is sent when nobody has that number", async () => {
    const anna = await sim.addContact(ANNA);

    await expect(anna.sendText("491999999999", "?")).rejects.toThrow("no account");
  });
});

describe("a message that cannot be read", () => {
  let anna: ContactHandle;
  let ben: ContactHandle;

  beforeEach(async () => {
    [anna, ben] = [await sim.addContact(ANNA), await sim.addContact(BEN)];
    await anna.sendText(BEN, "before");
    await ben.waitForMessage({ text: "before" });
    await ben.sendText(ANNA, "answer");
    await anna.waitForMessage({ text: "answer" });
  });

  it("is asked for again and comes on a new session, with its count", async () => {
    damage(ANNA, 1);
    const heard = listen();

    const { id } = await anna.sendText(BEN, "damaged");

    expect(await ben.waitForMessage({ id })).toMatchObject({ text: "damaged", encType: "pkmsg" });
    const again = heard.findLast(({ tag, attrs }) => tag === "message" && attrs.id === id)!;
    expect(child(again, "enc")?.attrs).toMatchObject({ type: "pkmsg", count: "1" });
    expect(again.attrs.to).toBe(ben.lid);
    await anna.sendText(BEN, "after");
    await ben.waitForMessage({ text: "after" });
    expected = ["undecryptable"];
  });

  it("is asked for five times, with keys from the second on, and then given up", async () => {
    damage(ANNA, 6);
    const heard = listen();

    const { id } = await anna.sendText(BEN, "lost");
    await sim.settle();

    const retries = heard.filter(({ tag, attrs }) => tag === "receipt" && attrs.type === "retry");
    expect(retries.map((node) => child(node, "retry")?.attrs.count)).toEqual(["1", "2", "3", "4", "5"]);
    expect(retries.map((node) => Boolean(child(node, "keys")))).toEqual([false, true, true, true, true]);
    expect(await ben.messages({ id })).toEqual([]);
    await anna.sendText(BEN, "next");
    await ben.waitForMessage({ text: "next" });
    expected = ["undecryptable"];
  });

  it("is confirmed and not shown again when it comes a second time", async () => {
    await sim.faults.duplicateStanzas({ number: BEN, device: 0, n: 1 });

    const { id } = await anna.sendText(BEN, "twice");
    await ben.waitForMessage({ id });
    await sim.settle();

    expect(await ben.messages({ id })).toHaveLength(1);
    expect(await sim.countStanzas({ contact: BEN, tag: "receipt", type: "retry" })).toBe(0);
  });
});

describe("a group of people", () => {
  const CARL = "491510000003";

  it.each(["lid", "pn"] as const)(
    "reads every device's texts when it is addressed by %s",
    async (addressing) => {
      const anna = await sim.addContact(ANNA, { devices: 2 });
      const ben = await sim.addContact(BEN, { addressing: "lid" });
      const group = await sim.addGroup({ subject: "g", members: [ANNA, BEN], addressing });

      await anna.sendText(group.id, "from the phone");
      await anna.sendText(group.id, "from the second", { device: 1 });
      await anna.sendText(group.id, "again");
      await ben.sendText(group.id, "answer");
      await anna.waitForMessage({ text: "answer" });
      await sim.settle();

      expect(await readersOf("from the second")).toEqual([`${ANNA}:0`, `${BEN}:0`]);
      expect((await ben.messages()).map(({ text, encType }) => [text, encType])).toEqual([
        ["from the phone", "skmsg"],
        ["from the second", "skmsg"],
        ["again", "skmsg"],
      ]);
    },
  );

  it("gets a new key when somebody has left, and the key once only otherwise", async () => {
    const anna = await sim.addContact(ANNA);
    const ben = await sim.addContact(BEN);
    await sim.addContact(CARL);
    const group = await sim.addGroup({ subject: "g", members: [ANNA, BEN, CARL] });
    const heard = listen();

    await anna.sendText(group.id, "1");
    await anna.sendText(group.id, "2");
    await sim.changeGroup(group.id, { remove: [CARL] });
    await sim.settle();
    await anna.sendText(group.id, "3");
    await ben.waitForMessage({ text: "3" });

    const keys = heard
      .filter(({ tag }) => tag === "message")
      .map((node) => children(child(node, "participants")).length);
    expect(keys).toEqual([2, 0, 1]);
    expect(await readersOf("3")).toEqual([`${BEN}:0`]);
  });

  it("sends a group message again to the one who could not read it", async () => {
    const anna = await sim.addContact(ANNA);
    const ben = await sim.addContact(BEN);
    await sim.addContact(CARL);
    const group = await sim.addGroup({ subject: "g", members: [ANNA, BEN, CARL] });
    await anna.sendText(group.id, "1");
    await ben.waitForMessage({ text: "1" });
    damage(ANNA, 1);

    await anna.sendText(group.id, "damaged");
    await ben.waitForMessage({ text: "damaged" });
    await anna.sendText(group.id, "after");

    expect(await ben.waitForMessage({ text: "after" })).toMatchObject({ encType: "skmsg" });
    expected = ["undecryptable"];
  });
});

describe("the owner's phone", () => {
  it("writes as the owner and reads what contacts write", async () => {
    const [owner, anna] = [await sim.addNumber(OWNER), await sim.addContact(ANNA)];

    await owner.typeAsOwner(ANNA, "good morning");
    await anna.waitForMessage({ text: "good morning", from: OWNER });
    await anna.sendText(OWNER, "hello");
    await sim.settle();

    expect(await readersOf("hello")).toEqual([`${OWNER}:0`]);
  });

  it("refuses a text that is no companion's QR, and one that nobody shows", async () => {
    const owner = await sim.addNumber(OWNER);
    const stale = `https://wa.me/settings/linked_devices#2@gone,${"A".repeat(43)}=,${"A".repeat(43)}=,${"A".repeat(43)}=,1`;

    await expect(owner.scan("https://example.com")).rejects.toThrow("not the QR text");
    await expect(owner.scan(stale)).rejects.toThrow("404");
  });
});

describe("many people", () => {
  it("cost nothing to speak of until they come online", async () => {
    await sim.addContacts(2000, { prefix: "4915900" });

    expect(await sim.countStanzas()).toBe(0);
  });

  it("have the same keys and ids in every run with one seed", async () => {
    expect(await aRun()).toEqual(await aRun());
  });
});
