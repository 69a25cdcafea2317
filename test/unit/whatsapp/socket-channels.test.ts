import type { BinaryNode } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import { createChannels } from "../../../src/whatsapp/groups/socket-channels.ts";
import { createGroups } from "../../../src/whatsapp/groups/socket-groups.ts";

type Socket = Parameters<typeof createChannels>[0];

const ID = "120363000000000001@newsletter";
const metadata = {
  id: ID,
  state: { type: "ACTIVE" },
  thread_metadata: { name: { id: "1", text: "City news", update_time: "0" }, invite: "0029Va" },
  viewer_metadata: { role: "SUBSCRIBER", mute: "OFF" },
};

/** A socket whose newsletter query gives this answer, or fails with it. */
function channelsOf(answer: unknown) {
  const asked: string[][] = [];
  const newsletterMetadata = async (...question: string[]): Promise<unknown> => {
    asked.push(question);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { channels: createChannels({ newsletterMetadata } as unknown as Socket), asked };
}

const failure = (details: object): Error => Object.assign(new Error("no"), details);

describe("what WhatsApp tells of a channel", () => {
  it("is asked by invite code or id, and read as the service sends it", async () => {
    const { channels, asked } = channelsOf(metadata);

    expect(await channels.find({ invite: "0029Va" })).toEqual({
      id: ID,
      name: "City news",
      role: "subscriber",
    });
    await channels.find({ id: ID });
    expect(asked).toEqual([
      ["invite", "0029Va"],
      ["jid", ID],
    ]);
  });

  it.each([
    ["without the viewer's part", { viewer_metadata: null }, { role: "guest" }],
    ["with a role of another kind", { viewer_metadata: { role: "NEW" } }, { role: "guest" }],
    ["of an admin", { viewer_metadata: { role: "ADMIN" } }, { role: "admin" }],
    ["with a plain name", { thread_metadata: { name: "News" } }, { name: "News" }],
    ["without a name", { thread_metadata: null }, { name: "" }],
  ])("is read %s", async (_, change, expected) => {
    const { channels } = channelsOf({ ...metadata, ...change });
    expect(await channels.find({ id: ID })).toMatchObject(expected);
  });

  it.each([
    ["there is nothing", null],
    ["it was deleted", { ...metadata, state: { type: "DELETED" } }],
    ["the query finds nothing", failure({ data: 404 })],
    ["the answer holds an error 404", failure({ data: { extensions: { error_code: 404 } } })],
  ])("is null when %s", async (_, answer) => {
    expect(await channelsOf(answer).channels.find({ id: ID })).toBeNull();
  });

  it("is not null but an error when WhatsApp refuses or keeps silent", async () => {
    for (const error of [failure({ data: 403 }), failure({ output: { statusCode: 400 } })])
      await expect(channelsOf(error).channels.find({ id: ID })).rejects.toBe(error);
  });
});

describe("the announcement group of a community", () => {
  it("is told from other groups, and never in the way of a send", async () => {
    const query = async ({ attrs: { to: id } }: BinaryNode) => {
      if (id === "3@g.us") throw new Error("no answer");
      const content = id === "1@g.us" ? [{ tag: "default_sub_group", attrs: {} }] : [];
      return { tag: "iq", attrs: {}, content: [{ tag: "group", attrs: { id }, content }] };
    };
    const socket = {
      query,
      signalRepository: { lidMapping: { storeLIDPNMappings: async () => undefined } },
    };
    const groups = createGroups(() => socket as unknown as Socket);

    expect(await groups.isAnnouncements("1@g.us")).toBe(true);
    expect(await groups.isAnnouncements("2@g.us")).toBe(false);
    expect(await groups.isAnnouncements("3@g.us")).toBe(false);
    expect(await groups.isAnnouncements("49@s.whatsapp.net")).toBe(false);
  });
});
