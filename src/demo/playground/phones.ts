import type { Content, LoadedMedia, MessageBody, Simulator } from "../../simulator/types.ts";
import { CONTACT, NUMBER, SHOP } from "../services.ts";
import type { Files } from "./files.ts";
import type { Lines } from "./lines.ts";
import { Refusal } from "./refusal.ts";
import type { GroupView, PhoneKind, PhoneView } from "./view.ts";

/** What a person writes. */
export type Writing =
  | { kind: "text"; text: string; quoted?: string | undefined }
  | { kind: "file"; file: string; caption?: string | undefined }
  | { kind: "location"; latitude: number; longitude: number; name?: string | undefined }
  | { kind: "contact"; name: string; number: string }
  | { kind: "poll"; question: string; options: string[]; several: boolean };

/** What a person does with a message, or in a chat. */
export type Act =
  | { act: "react"; id: string; emoji: string }
  | { act: "edit"; id: string; text: string }
  | { act: "revoke"; id: string }
  | { act: "vote"; id: string; options: string[] }
  | { act: "played"; id: string }
  | { act: "typing"; chat: string; on: boolean };

/** The simulated phones, and what people do on them. */
export interface Phones {
  all(): PhoneView[];
  groups(): GroupView[];
  add(name: string, kind: Exclude<PhoneKind, "owner">): Promise<PhoneView>;
  addGroup(subject: string, members: string[]): Promise<GroupView>;
  /** @returns the message's id */
  write(phone: string, chat: string, writing: Writing): Promise<string>;
  act(phone: string, act: Act): Promise<void>;
  setOnline(phone: string, online: boolean): Promise<void>;
  /** @throws Refusal when it is the owner's, off, or not there */
  requireOnline(phone: string): void;
  mediaOf(phone: string, id: string): Promise<LoadedMedia>;
  /** By which address the gateway knows a chat of a phone. */
  addressOf(phone: string, chat: string): string;
}

interface Needs {
  simulator: Simulator;
  lines: Lines;
  files: Files;
  onChange(): void;
}

const MOST_PHONES = 12;
/** Who is there at the beginning. */
const FIRST: [name: string, kind: Exclude<PhoneKind, "owner">][] = [
  [CONTACT.name, "number"],
  ["Budi", "lid"],
  ["Carmen", "hidden"],
];
const OPTIONS: Record<Exclude<PhoneKind, "owner">, object> = {
  number: { addressing: "pn" },
  lid: { addressing: "lid" },
  hidden: { hidesNumber: true },
};

/** The owner's phone, three contacts and a group. */
export async function createPhones(needs: Needs): Promise<Phones> {
  const { simulator, lines, files, onChange } = needs;
  const owner = await simulator.number(NUMBER);
  const phones = new Map<string, PhoneView>();
  const groups = new Map<string, GroupView>();
  const put = (phone: PhoneView): PhoneView => {
    phones.set(phone.number, phone);
    onChange();
    return phone;
  };
  put({ number: NUMBER, name: SHOP, kind: "owner", lid: digits(owner.lid), online: true });

  const find = (number: string): PhoneView => {
    const phone = phones.get(number);
    if (phone === undefined) throw new Refusal(404, `There is no phone ${number}.`);
    return phone;
  };
  /** Shows on the phone what it has sent. */
  const note = async (phone: string, id: string, known: Partial<MessageBody> = {}): Promise<string> => {
    const [message] = await simulator.accepted({ from: phone, id });
    if (message !== undefined) lines.wrote(phone, { ...message, ...known }, find(phone).kind !== "owner");
    return id;
  };
  const add: Phones["add"] = async (name, kind) => {
    if (phones.size >= MOST_PHONES) throw new Refusal(409, `A page can have at most ${MOST_PHONES} phones.`);
    const number = String(Number(CONTACT.number) + phones.size - 1);
    const contact = await simulator.addContact(number, { name, readsMessages: true, ...OPTIONS[kind] });
    return put({ number, name, kind, lid: digits(contact.lid), online: true });
  };
  const addGroup: Phones["addGroup"] = async (subject, members) => {
    for (const member of members) find(member);
    const info = await simulator.addGroup({ subject, creator: members[0]!, members: [...members, NUMBER] });
    const group = { id: info.id, subject, members };
    groups.set(group.id, group);
    onChange();
    return group;
  };
  for (const [name, kind] of FIRST) await add(name, kind);
  const [, ana, budi] = [...phones.keys()];
  await addGroup("Neighbours", [ana!, budi!]);

  return {
    all: () => [...phones.values()],
    groups: () => [...groups.values()],
    add,
    addGroup,
    async write(number, chat, writing) {
      const phone = find(number);
      if (phone.kind === "owner" && !chat.endsWith("@g.us")) find(chat);
      const content = contentOf(writing, files);
      const send = phone.kind === "owner" ? simulator.sendAsOwner : simulator.send;
      const { id } = await send(number, chat, content, optionsOf(writing, lines, phone, chat));
      return note(number, id);
    },
    async act(number, act) {
      find(number);
      const id = await perform(simulator, number, act);
      if (id === null) return;
      // What is sealed is not in what the service has taken.
      await note(
        number,
        id,
        act.act === "vote" ? { kind: "vote", target: act.id, choices: act.options } : {},
      );
    },
    async setOnline(number, online) {
      const phone = find(number);
      if (phone.kind === "owner") throw new Refusal(400, "The owner's phone stays online.");
      await (online ? simulator.wake(number) : simulator.sleep(number));
      put({ ...phone, online });
    },
    requireOnline: (number) => refuseCall(find(number)),
    mediaOf: (number, id) => simulator.mediaOf(find(number).number, id),
    addressOf(number, chat) {
      if (chat.endsWith("@g.us")) return chat;
      const partner = find(number).kind === "owner" ? find(chat) : find(number);
      return partner.kind === "number" ? partner.number : `${partner.lid}@lid`;
    },
  };
}

const digits = (lid: string): string => lid.split("@")[0]!.split(":")[0]!;

async function perform(simulator: Simulator, number: string, act: Act): Promise<string | null> {
  switch (act.act) {
    case "react":
      return (await simulator.react(number, act.id, act.emoji)).id;
    case "edit":
      return (await simulator.edit(number, act.id, act.text)).id;
    case "revoke":
      return (await simulator.revoke(number, act.id)).id;
    case "vote":
      return (await simulator.votePoll(number, act.id, act.options)).id;
    case "played":
      await simulator.markPlayed(number, act.id);
      return null;
    case "typing":
      await simulator.typing(number, act.chat, act.on ? "composing" : "paused");
      return null;
  }
}

/** @throws Refusal when this phone cannot be the one that calls */
function refuseCall({ kind, online }: PhoneView): void {
  if (kind === "owner") throw new Refusal(400, "The number cannot call itself.");
  if (!online) throw new Refusal(409, "The phone is off: switch it on first.");
}

/** @throws Refusal when the quoted message is not in this chat */
function optionsOf(writing: Writing, lines: Lines, phone: PhoneView, chat: string) {
  if (writing.kind !== "text" || writing.quoted === undefined) return undefined;
  const id = writing.quoted;
  const line = lines.ofChat(phone.number, chat).find((one) => one.id === id);
  if (line === undefined) throw new Refusal(404, "The quoted message is not in this chat.");
  return { quoted: { id, participant: line.from, text: line.text ?? "" } };
}

function contentOf(writing: Writing, files: Files): Content {
  switch (writing.kind) {
    case "text":
      return { kind: "text", text: writing.text };
    case "location": {
      const { latitude, longitude, name } = writing;
      return { kind: "location", latitude, longitude, ...(name !== undefined && { name }) };
    }
    case "contact": {
      const { name, number } = writing;
      const vcard = `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=${number}:+${number}\nEND:VCARD`;
      return { kind: "contacts", contacts: [{ name, vcard }] };
    }
    case "poll": {
      const { question: name, options, several } = writing;
      return { kind: "poll", name, options, selectable: several ? 0 : 1 };
    }
    case "file":
      return fileContent(writing, files);
  }
}

function fileContent({ file: id, caption }: Writing & { kind: "file" }, files: Files): Content {
  const file = files.get(id);
  if (file === undefined) throw new Refusal(404, "This file is gone: drop it again.");
  const { path, mimetype, kind, name } = file;
  const said = caption === undefined || caption === "" ? {} : { caption };
  switch (kind) {
    case "document":
      return { kind, path, mimetype, fileName: name, ...said };
    case "image":
    case "video":
      return { kind, path, mimetype, ...said };
    case "voice":
      return { kind, path, mimetype, seconds: 4 };
    default:
      return { kind, path, mimetype };
  }
}
