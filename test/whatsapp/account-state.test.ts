import { expect, it } from "vitest";
import { rawRows } from "../unit/store/rows.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";
import type { NumberOptions } from "../../src/simulator/index.ts";

async function setup(options: NumberOptions = {}) {
  const simulator = await simulate();
  const owner = await simulator.addNumber(OWN, { name: "Shop", ...options });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const group = await simulator.addGroup({ subject: "All", members: [OWN, GUEST] });
  const store = await testStore(simulator);
  const { number: numberOf, sent } = await whatsappOn(simulator, store);
  const number = numberOf(1);
  await link(simulator, number);
  const closedBefore = number.closes.length;
  let said = 0;
  /** Messages come and go, in a chat and in a group, and the connection is the same. */
  const works = async (): Promise<void> => {
    const text = `text ${++said}`;
    await guest.sendText(OWN, text);
    await until(text, () => number.received.some((message) => message.text === text));
    const id = (kind: string): string => `3EB0${kind}${String(said).padStart(16, "0")}`;
    expect(await number.send(GUEST, `answer ${said}`, id("AA"))).toEqual({ kind: "sent" });
    expect(await number.send(group.id, `to all ${said}`, id("BB"))).toEqual({ kind: "sent" });
    await guest.waitForMessage({ text: `to all ${said}` });
    expect(number.closes).toHaveLength(closedBefore);
  };
  const pairs = async () =>
    await rawRows(store, "select lid_user, pn_user from lid_map where pn_user <> ?", [OWN]);
  return { simulator, owner, guest, group, store, number, sent, works, pairs };
}

it("app state that is broken in any way does no harm: messages come and go meanwhile", async () => {
  const { simulator, number, works } = await setup();
  const contact = (name: string) => ({ kind: "contact", person: GUEST, name }) as const;
  for (const trouble of ["spoilt", "garbage", "gone", "refused"] as const) {
    await simulator.spoilAppState(OWN, "critical_unblock_low", trouble);
    await simulator.changeAppState(OWN, contact(trouble), { external: trouble === "gone" });
    await works();
  }
  await simulator.spoilAppState(OWN, "critical_unblock_low");
  await simulator.changeAppState(OWN, contact("without its key"), { key: "unshared" });
  await works();
  await simulator.shareAppStateKeys(OWN);
  await simulator.announceAppState(OWN, ["regular_high", "nothing_of_the_kind"]);
  await simulator.announceAppState(OWN, ["nothing_of_the_kind"]);
  await simulator.markDirty(OWN, "syncd_app_state");
  await simulator.markDirty(OWN, "newsletter_metadata");
  await simulator.markDirty(OWN, "nothing_of_the_kind");
  await works();
  await until("acks", async () => (await simulator.pending(OWN)) === 0);
  expect(number.received).toHaveLength(6);
});

it("app state that is never answered keeps nothing waiting", async () => {
  const { simulator, works } = await setup();
  await simulator.faults.unansweredIqs({ xmlns: "w:sync:app:state", number: OWN, times: 1 });
  await simulator.changeAppState(OWN, { kind: "pin", chat: GUEST, pinned: true });
  const began = Date.now();
  await works();
  // The question is given up after 30 s; whoever waited for that would have failed.
  expect(Date.now() - began).toBeLessThan(20_000);
});

it("a name in the address book brings the pair of number and LID", async () => {
  const { simulator, guest, works, pairs } = await setup();
  const other = await simulator.addContact("31600000102");
  await simulator.changeAppState(OWN, { kind: "contact", person: other.number, name: "Ben" });
  const pair = { lid_user: other.lid.split("@")[0], pn_user: other.number };
  await until("the pair", async () => (await pairs()).some((row) => row.lid_user === pair.lid_user));
  expect(await pairs()).toContainEqual(pair);
  await works();
  expect(guest.number).toBe(GUEST);
});

it("the owner's name follows, and the number is never shown as available", async () => {
  const { simulator, owner, number, works } = await setup();
  await works();
  // The phone's first messages bear the name that it had.
  await until("acks", async () => (await simulator.pending(OWN)) === 0);
  await simulator.setPushName(OWN, "The Shop");
  await works();
  const presences = { number: OWN, device: 1, tag: "presence", direction: "in" } as const;
  const told = async () => await simulator.stanzas(presences);
  await until("the new name", async () => (await told()).some(({ attrs }) => attrs.name === "The Shop"));
  await number.close();
  await number.connect();
  await until("the connection", () => number.opens > 1);

  expect(number.identity?.name).toBe("The Shop");
  // A change of the name comes without saying more.
  const types = (await told()).map(({ attrs }) => attrs.type);
  expect([undefined, "unavailable"]).toEqual(expect.arrayContaining(types));
  expect((await simulator.presence(OWN)).available).not.toContain(1);
  expect(owner.number).toBe(OWN);
});

it("history of any kind is no new message, loses none, and brings the pairs that it holds", async () => {
  const history = {
    chats: [{ with: GUEST, messages: [{ text: "long ago" }] }],
    recent: [{ with: GUEST, messages: [{ text: "yesterday" }, { text: "and then", fromMe: true }] }],
    pushNames: "known" as const,
  };
  const { simulator, number, works, pairs } = await setup({ history });
  const other = await simulator.addContact("31600000102");
  await works();
  const chats = [{ with: GUEST, messages: [{ text: "later told" }, { text: "and this" }] }];
  const known = [{ number: other.number, lid: other.lid }];
  await simulator.sendHistory(OWN, { type: "recent", chats, pairs: known, pieces: 2 });
  await simulator.sendHistory(OWN, { type: "full", chats });
  await simulator.sendHistory(OWN, { type: "on_demand", chats });
  await simulator.sendHistory(OWN, { type: "push_names", pushNames: [{ number: GUEST, name: "Ana B." }] });
  // A file that is not there any more.
  await simulator.faults.mediaStatus({ direction: "download", status: 410, times: 5 });
  await simulator.sendHistory(OWN, { type: "recent", chats, inline: false });
  await works();
  await until("the pair", async () => (await pairs()).some((row) => row.pn_user === other.number));

  expect(number.received.map(({ text }) => text)).toEqual(["text 1", "text 2"]);
  await until("acks", async () => (await simulator.pending(OWN)) === 0);
});

it("changes of pictures, privacy and blocked people are acknowledged; a business is called by its verified name", async () => {
  const { simulator, guest, number, works } = await setup();
  await works();
  await simulator.setPicture(OWN, Buffer.from("ffd8ff", "hex"));
  await simulator.setPicture(GUEST, Buffer.from("ffd8ff", "hex"));
  await simulator.setPicture(GUEST, null);
  await simulator.setPrivacy(OWN, "last", "none");
  await simulator.block(OWN, GUEST);
  await simulator.block(OWN, GUEST, "unblock");
  await simulator.setBusiness(GUEST, { name: "Ana's Bakery" });
  await guest.sendText(OWN, "without a name of its own", { pushName: "" });
  await guest.sendText(OWN, "with one", { pushName: "Ana" });
  await works();
  await until("acks", async () => (await simulator.pending(OWN)) === 0);

  const nameIn = (text: string) => number.received.find((message) => message.text === text)?.pushName;
  expect(nameIn("without a name of its own")).toBe("Ana's Bakery");
  expect(nameIn("with one")).toBe("Ana");
});
