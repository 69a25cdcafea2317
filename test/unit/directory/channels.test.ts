import { describe, expect, it } from "vitest";
import { createChannels } from "../../../src/directory/channels.ts";
import type { ChannelChange, ChannelInfo } from "../../../src/whatsapp/port.ts";
import { loadConfig } from "../../../src/config.ts";
import { silentLog, temporaryStore } from "../store/temporary.ts";

const DEVICE = 1;
/** What is told is stored in the background. */
const ID = "120363000000000001@newsletter";

interface Script {
  role: ChannelInfo["role"];
  name: string;
  known: boolean;
  online: boolean;
  fails: Error | null;
}

/** WhatsApp as the script has it, and what it was asked. */
async function channelsWith(change: Partial<Script> = {}) {
  let now = 1_700_000_000_000;
  const script: Script = { role: "guest", name: "News", known: true, online: true, fails: null, ...change };
  const asked: string[] = [];
  const answer = (question: string): void => {
    asked.push(question);
    if (script.fails !== null) throw script.fails;
  };
  const line = {
    async channel(by: { invite: string } | { id: string }) {
      answer(`find ${"invite" in by ? by.invite : by.id}`);
      return script.known ? { id: ID, name: script.name, role: script.role } : null;
    },
    followChannel: async (id: string) => answer(`follow ${id}`),
    unfollowChannel: async (id: string) => answer(`unfollow ${id}`),
  };
  const store = await temporaryStore({}, () => now);
  const log = silentLog(loadConfig({ DATA_DIR: "/nowhere", LOG_LEVEL: "silent" }));
  const channels = createChannels({ store, log, connection: () => (script.online ? line : null) });
  return { channels, script, asked, pass: (ms: number) => (now += ms) };
}

describe("registering a channel", () => {
  it("follows it where the number is nothing in it, and keeps it", async () => {
    const { channels, asked } = await channelsWith();

    const added = await channels.add(DEVICE, { invite: "0029VaInvite" });

    expect(added).toEqual({ id: ID, name: "News", role: "subscriber", canSend: false });
    expect(asked).toEqual(["find 0029VaInvite", `follow ${ID}`]);
    expect((await channels.list(DEVICE, {})).items).toEqual([added]);
    expect((await channels.list(DEVICE + 1, {})).items).toEqual([]);
  });

  it.each(["owner", "admin"] as const)("of which the number is %s follows nothing", async (role) => {
    const { channels, asked } = await channelsWith({ role });

    expect(await channels.add(DEVICE, { id: ID })).toMatchObject({ role, canSend: true });
    expect(asked).toEqual([`find ${ID}`]);
  });

  it("again renews its name and role", async () => {
    const { channels, script } = await channelsWith();
    await channels.add(DEVICE, { id: ID });
    Object.assign(script, { name: "Old news", role: "admin" });

    await channels.add(DEVICE, { id: ID });

    expect((await channels.list(DEVICE, {})).items).toEqual([
      { id: ID, name: "Old news", role: "admin", canSend: true },
    ]);
  });

  it("is refused, and nothing is kept, when there is none or WhatsApp cannot be asked", async () => {
    const { channels, script } = await channelsWith({ known: false });
    await expect(channels.add(DEVICE, { id: ID })).rejects.toMatchObject({ code: "NOT_ON_WHATSAPP" });

    Object.assign(script, { known: true, fails: Object.assign(new Error("no"), { data: 403 }) });
    await expect(channels.add(DEVICE, { id: ID })).rejects.toMatchObject({
      code: "WHATSAPP_REFUSED",
      details: { extra: { whatsapp_code: 403 } },
    });
    script.online = false;
    await expect(channels.add(DEVICE, { id: ID })).rejects.toMatchObject({ code: "WHATSAPP_REFUSED" });
    expect((await channels.list(DEVICE, {})).items).toEqual([]);
  });
});

describe("removing a channel", () => {
  it("ends the subscription, but not the office of an admin", async () => {
    const { channels, script, asked } = await channelsWith();
    await channels.add(DEVICE, { id: ID });
    expect(await channels.remove(DEVICE, ID)).toBe(true);
    expect(asked.at(-1)).toBe(`unfollow ${ID}`);

    script.role = "admin";
    await channels.add(DEVICE, { id: ID });
    expect(await channels.remove(DEVICE, ID)).toBe(true);
    expect(asked.at(-1)).toBe(`find ${ID}`);
    expect((await channels.list(DEVICE, {})).items).toEqual([]);
  });

  it("that is not registered is told; one that WhatsApp does not let go stays", async () => {
    const { channels, script } = await channelsWith();
    expect(await channels.remove(DEVICE, ID)).toBe(false);

    await channels.add(DEVICE, { id: ID });
    script.fails = new Error("no answer");
    await expect(channels.remove(DEVICE, ID)).rejects.toMatchObject({ code: "WHATSAPP_REFUSED" });
    expect((await channels.list(DEVICE, {})).items).toHaveLength(1);
  });
});

describe("a post", () => {
  it("to a channel that the number only reads is refused, unless it has become an admin since", async () => {
    const { channels, script, asked, pass } = await channelsWith();
    await channels.add(DEVICE, { id: ID });
    const refused = { code: "CANNOT_SEND", reason: "not_channel_admin" };

    expect(await channels.refusal(DEVICE, ID)).toEqual(refused);
    script.role = "admin";
    expect(await channels.refusal(DEVICE, ID)).toEqual(refused);
    expect(asked.filter((question) => question.startsWith("find"))).toHaveLength(2);
    pass(10_000);
    expect(await channels.refusal(DEVICE, ID)).toBeNull();
    expect((await channels.list(DEVICE, {})).items).toMatchObject([{ role: "admin", canSend: true }]);
  });

  it("of an admin is let through without a question, online or not", async () => {
    const { channels, script, asked } = await channelsWith({ role: "admin" });
    await channels.add(DEVICE, { id: ID });
    script.online = false;

    expect(await channels.refusal(DEVICE, ID)).toBeNull();
    expect(asked).toEqual([`find ${ID}`]);
  });

  it.each([
    ["that the number only reads", { role: "subscriber" }, true],
    ["that it does not follow", { role: "guest" }, true],
    ["that there is not", { known: false }, true],
    ["of which it is an admin", { role: "admin" }, false],
    ["of which it is the owner", { role: "owner" }, false],
  ] as const)(
    "to a channel %s, and that is not registered, is asked about once",
    async (_, script, closed) => {
      const { channels, asked } = await channelsWith(script);
      const refused = closed ? { code: "CANNOT_SEND", reason: "not_channel_admin" } : null;

      const answers = await Promise.all([channels.refusal(DEVICE, ID), channels.refusal(DEVICE, ID)]);
      answers.push(await channels.refusal(DEVICE, ID));

      expect(answers).toEqual([refused, refused, refused]);
      expect(asked).toEqual([`find ${ID}`]);
      expect((await channels.list(DEVICE, {})).items).toEqual([]);
    },
  );

  it("is WhatsApp's to judge when it does not answer or is not there, and to what is no channel", async () => {
    const { channels, script, asked } = await channelsWith({ fails: new Error("no answer") });
    expect(await channels.refusal(DEVICE, ID)).toBeNull();
    script.online = false;
    expect(await channels.refusal(DEVICE, ID)).toBeNull();
    script.online = true;
    expect(await channels.refusal(DEVICE, "491@s.whatsapp.net")).toBeNull();
    expect(asked).toEqual([`find ${ID}`]);
  });
});

describe("what WhatsApp tells of a channel", () => {
  const admin = { id: ID, name: "News", role: "admin", canSend: true };

  it.each<[string, ChannelChange, object]>([
    ["a name", { id: ID, name: "Olds" }, { name: "Olds", role: "admin" }],
    ["what the number is in it", { id: ID, role: "subscriber" }, { role: "subscriber", canSend: false }],
    ["that it is gone", { id: ID, deleted: true }, { name: "News", role: "guest", canSend: false }],
    ["what somebody else is in it", { id: ID }, admin],
    ["another channel", { id: "120363000000000002@newsletter", name: "Olds" }, admin],
  ])("stands in the list without a question: %s", async (_what, change, expected) => {
    const { channels, asked } = await channelsWith({ role: "admin" });
    await channels.add(DEVICE, { id: ID });

    channels.changed(DEVICE, [change]);

    await expect.poll(async () => (await channels.list(DEVICE, {})).items[0]).toMatchObject(expected);
    expect((await channels.list(DEVICE, {})).items).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it.each<[string, ChannelChange[]]>([
    ["of one channel", [{ id: ID, unknown: true }]],
    ["of all", []],
  ])("and does not say how, is asked for: %s", async (_what, changes) => {
    const { channels, script, asked } = await channelsWith({ role: "admin" });
    await channels.add(DEVICE, { id: ID });
    Object.assign(script, { name: "Olds", role: "subscriber" });

    channels.changed(DEVICE, changes);

    await expect
      .poll(async () => (await channels.list(DEVICE, {})).items[0])
      .toMatchObject({
        name: "Olds",
        canSend: false,
      });
    expect(asked).toHaveLength(2);
  });

  it("opens what was closed: an answer from before says nothing any more", async () => {
    const { channels, script } = await channelsWith();
    await channels.add(DEVICE, { id: ID });
    expect(await channels.refusal(DEVICE, ID)).not.toBeNull();
    script.role = "admin";

    channels.changed(DEVICE, [{ id: ID, role: "admin" }]);

    await expect
      .poll(async () => (await channels.list(DEVICE, {})).items[0])
      .toMatchObject({ canSend: true });
    expect(await channels.refusal(DEVICE, ID)).toBeNull();
  });
});
