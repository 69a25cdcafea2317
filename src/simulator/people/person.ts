import type { proto } from "@whiskeysockets/baileys";
import { element } from "../wire/nodes.ts";
import { timerChat } from "./messages/chat-timers.ts";
import { compose } from "./content.ts";
import { inAlbum } from "./content/album.ts";
import { composeRevoke } from "./content/edit.ts";
import { composeReaction } from "./content/reaction.ts";
import { composeTimer } from "./content/timer.ts";
import { Devices } from "./owner/devices.ts";
import { withSecret, writeEdit } from "./messages/edits.ts";
import { STATUS, isGroup, toJid } from "./jids.ts";
import { keyOf } from "./messages/keys.ts";
import type { PhoneWorld } from "./link.ts";
import { loadMedia } from "./messages/load-media.ts";
import type { KnownMessage } from "./messages/memory.ts";
import type { MarkType, PersonOptions, SimulatedPerson } from "./people.ts";
import type { Phone } from "./phone.ts";
import { writeOption } from "./messages/poll-options.ts";
import { writeVote } from "./messages/votes.ts";

interface Parts {
  world: PhoneWorld;
  options: PersonOptions;
  devices: Devices;
}

/**
 * A simulated person with one or several devices.
 *
 * @param devices  those of the person; by default made of the options
 */
export function createPerson(
  world: PhoneWorld,
  options: PersonOptions,
  devices: Devices = new Devices(world, options),
): SimulatedPerson {
  const parts = { world, options, devices };
  return {
    number: options.number,
    get lid() {
      return options.lid;
    },
    addDevice: (device) => devices.add(device),
    startAnew: () => devices.startAnew(),
    moveLid(lid) {
      options.lid = lid;
      devices.moveLid(lid);
    },
    name: options.name ?? options.number,
    get awake() {
      return devices.awake;
    },
    wake: () => devices.wake(),
    sleep: () => devices.sleep(),
    settle: () => devices.settle(),
    knows: (id) => devices.knows(id),
    rename: async (name) => devices.rename(name),
    async presence(state) {
      await devices.wake();
      await devices.phone().do(async () => devices.phone().presence(state));
    },
    ...createWriting(parts),
    ...createActs(parts),
  };
}

type Writing = Pick<
  SimulatedPerson,
  "sendText" | "sendContent" | "typing" | "setDisappearing" | "call" | "postStatus" | "resend"
>;

/** Messages of one's own. */
function createWriting({ options: person, devices }: Parts): Writing {
  const sendContent: Writing["sendContent"] = async (to, content, options = {}) => {
    await devices.wake();
    const phone = devices.phone(options.device);
    return await phone.do(async () => {
      const chat = await chatFor(person, phone, toJid(to));
      const timer = isGroup(chat) ? undefined : phone.state.timers.of(timerChat(phone.state, chat));
      const { expiration = timer?.seconds } = options;
      const mentions = options.mentions && (await memberJids(phone, chat, options.mentions));
      const quoted = options.quoted && { participant: chat, text: "", ...options.quoted };
      const { advertisement } = options;
      const extras = { mentions, quoted, expiration, expirationSince: timer?.since, advertisement };
      const composed = compose(content, phone.desk, extras);
      const { album } = options;
      const parent = album === undefined ? undefined : { remoteJid: chat, fromMe: true, id: album };
      const message = withSecret(phone, parent ? inAlbum(composed, parent) : composed);
      const id = options.id ?? phone.newMessageId();
      await phone.outbox.send(chat, id, message);
      return { id };
    });
  };
  return {
    sendContent,
    sendText: (to, text, options) => sendContent(to, { kind: "text", text }, options),
    async typing(to, state) {
      await devices.wake();
      const phone = devices.phone();
      await phone.do(async () => {
        const chat = await chatFor(person, phone, toJid(to));
        const what = state === "recording" ? element("composing", { media: "audio" }) : element(state);
        phone.state.send(element("chatstate", { to: chat }, [what]));
      });
    },
    async setDisappearing(to, seconds, id) {
      await devices.wake();
      const phone = devices.phone();
      await phone.do(async () => {
        const chat = await chatFor(person, phone, toJid(to));
        const since = Math.floor(phone.desk.now() / 1000);
        await phone.outbox.send(chat, id, composeTimer({ seconds, since }));
      });
    },
    async call(to, { tag, id, creator = `${person.number}@s.whatsapp.net`, video, reason }) {
      await devices.wake();
      const phone = devices.phone();
      await phone.do(async () => {
        const chat = await chatFor(person, phone, toJid(to));
        const picture = video ? [element("video", { dec: "H264" })] : [];
        const media =
          tag === "offer" ? [element("audio", { enc: "opus", rate: "16000" }), ...picture] : undefined;
        const said = element(tag, { "call-id": id, "call-creator": creator, reason }, media);
        phone.state.send(element("call", { to: chat, id: phone.newMessageId() }, [said]));
      });
    },
    async postStatus(content, audience, options = {}) {
      await devices.wake();
      const phone = devices.phone(options.device);
      return await phone.do(async () => {
        const id = options.id ?? phone.newMessageId();
        await phone.outbox.send(STATUS, id, compose(content, phone.desk), audience.map(toJid));
        return { id };
      });
    },
    async resend(id, one) {
      await devices.wake();
      const phone = devices.writerOf(id);
      await phone.do(async () => {
        if (one) await phone.outbox.sendAgain(id, one.to, one.count);
        else await phone.outbox.repeat(id);
      });
    },
  };
}

type Acts = Pick<
  SimulatedPerson,
  "react" | "edit" | "revoke" | "votePoll" | "addPollOption" | "mediaOf" | "mark"
>;

/** What a person does about messages that are on the phone. */
function createActs({ world, options: { number, hidesNumber = false }, devices }: Parts): Acts {
  const withMessage = async <T>(
    id: string,
    act: (known: KnownMessage, phone: Phone) => T | Promise<T>,
  ): Promise<T> => {
    await devices.wake();
    const phone = devices.phone();
    return await phone.do(async () => {
      const known = phone.state.memory.find(id);
      if (!known) throw new Error(`message ${id} is not on the phone of ${number}`);
      return await act(known, phone);
    });
  };
  const writeAbout = async (
    about: string,
    write: (known: KnownMessage, phone: Phone) => proto.IMessage | Promise<proto.IMessage>,
    given?: string,
  ): Promise<{ id: string }> =>
    await withMessage(about, async (known, phone) => {
      const message = await write(known, phone);
      const id = given ?? phone.newMessageId();
      await phone.outbox.send(known.chat, id, message);
      return { id };
    });
  const mark = async (ids: string[], type: MarkType): Promise<void> => {
    await devices.wake();
    const phone = devices.phone();
    await phone.do(async () => phone.inbox.mark(ids, type));
  };
  return {
    react: (id, emoji) => writeAbout(id, (known) => composeReaction(keyOf(known), emoji, world.time.now())),
    edit: (id, text) =>
      writeAbout(id, (known, phone) => {
        if (!known.fromMe) throw new Error(`message ${id} is not ${number}'s own: it cannot be edited`);
        return writeEdit(phone, known, text);
      }),
    revoke: (id) =>
      writeAbout(id, (known) => {
        if (!known.fromMe && !isGroup(known.chat))
          throw new Error(`message ${id} is not ${number}'s own: it cannot be deleted for everybody`);
        return composeRevoke(keyOf(known));
      }),
    votePoll: (id, options, how = {}) =>
      writeAbout(id, (known, phone) => writeVote(phone, known, options, how, hidesNumber), how.id),
    addPollOption: (id, option) => writeAbout(id, (known, phone) => writeOption(phone, known, option)),
    mediaOf: (id) => withMessage(id, (known, phone) => loadMedia(phone.state, known)),
    mark,
  };
}

/** Under which address a person writes to somebody. */
async function chatFor(person: PersonOptions, phone: Phone, jid: string): Promise<string> {
  if (isGroup(jid) || person.addressing !== "lid") return jid;
  return (await phone.directory.lidOf(jid)) ?? jid;
}

/** Mentioned people are named as the chat names its members. */
async function memberJids(phone: Phone, chat: string, people: string[]): Promise<string[]> {
  const byLid = isGroup(chat) ? (await phone.groups.chat(chat)).addressing === "lid" : chat.endsWith("@lid");
  return await Promise.all(
    people.map(async (person) =>
      byLid ? ((await phone.directory.lidOf(toJid(person))) ?? toJid(person)) : toJid(person),
    ),
  );
}
