import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { identityOf } from "../identity.ts";
import { withoutDevice } from "../jids.ts";
import { NoStateKey, ProfileRefused, ProfileUnanswered, type ProfileLine } from "../port/profile.ts";
import { writeAppState } from "./app-state-writes.ts";

/** There is no picture, or none any more. */
const NO_PICTURE = new Set([401, 404, 410]);
/** Of Baileys' own: nothing came. */
const TIMED_OUT = 408;
/** More than phones let anybody write. */
const LONGEST_ABOUT = 1_000;

/** Source of the nodes: whatsmeow `user.go`, `group.go`; Baileys `Socket/chats.js`. */
export function createProfile(socket: WASocket): ProfileLine {
  const { creds } = socket.authState;
  const me = (): string => withoutDevice(creds.me?.id);

  async function picture(): Promise<string | null> {
    try {
      return (await socket.profilePictureUrl(me(), "image")) ?? null;
    } catch (error) {
      if (NO_PICTURE.has(codeOf(error))) return null;
      throw refusal(error);
    }
  }

  async function about(): Promise<string | null> {
    const [own] = (await socket.fetchStatus(me()).catch(refuse)) ?? [];
    const { status } = (own?.["status"] ?? {}) as { status?: unknown };
    return typeof status === "string" && status !== "" ? status.slice(0, LONGEST_ABOUT) : null;
  }

  async function rename(name: string): Promise<void> {
    if (!creds.myAppStateKeyId) throw new NoStateKey();
    await writeAppState(socket, { pushNameSetting: name }).catch(refuse);
    // What Baileys does when the phone changes it: kept, and WhatsApp is told under which name messages go out.
    socket.ev.emit("creds.update", { me: { ...creds.me!, name } });
  }

  return {
    read: async () => ({
      name: identityOf(creds)?.name ?? null,
      about: await about(),
      pictureUrl: await picture(),
    }),
    async change({ name, about: text, picture: file }) {
      if (text !== undefined) await socket.updateProfileStatus(text).catch(refuse);
      if (name !== undefined) await rename(name);
      if (file !== undefined) await socket.query(picturing(file)).catch(refuse);
    },
  };
}

/**
 * Sets a picture, or takes it away.
 *
 * @param file JPEG in base64; "" for none
 * @param target a group; default: the number itself
 */
export function picturing(file: string, target?: string): BinaryNode {
  const attrs = { to: "s.whatsapp.net", type: "set", xmlns: "w:profile:picture", ...(target && { target }) };
  if (file === "") return { tag: "iq", attrs };
  const picture = { tag: "picture", attrs: { type: "image" }, content: Buffer.from(file, "base64") };
  return { tag: "iq", attrs, content: [picture] };
}

function codeOf(error: unknown): number {
  const { data } = error as { data?: unknown };
  return typeof data === "number" ? data : 0;
}

function refusal(error: unknown): unknown {
  const code = codeOf(error);
  if (code >= 400 && code < 600 && code !== TIMED_OUT) return new ProfileRefused(code);
  return (error as { isBoom?: boolean }).isBoom ? new ProfileUnanswered(String(error)) : error;
}

function refuse(error: unknown): never {
  throw refusal(error);
}
