import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { childrenOf } from "../nodes.ts";

/** Where files are stored, and the ticket for it. */
interface MediaHosts {
  /** To be tried in this order; with the port where it is not the usual one. */
  hosts: string[];
  auth: string;
}

/** Where files may be stored, asked of WhatsApp and remembered for as long as the answer says. */
export interface MediaHostsSource {
  /**
   * @param fresh asks WhatsApp again although the last answer is still valid
   * @throws what the query throws; the next call asks again
   */
  get(fresh?: boolean): Promise<MediaHosts>;
}

const DEFAULT_TTL_SECONDS = 300;

/** Not `refreshMediaConn` of the library, which keeps a failed answer for as long as the connection lives. */
export function createMediaHosts(
  socket: () => Pick<WASocket, "query">,
  { now }: Pick<Time, "now">,
): MediaHostsSource {
  let known: { answer: Promise<MediaHosts>; until: number } | null = null;

  async function ask(): Promise<MediaHosts> {
    const result = (await socket().query({
      tag: "iq",
      attrs: { type: "set", xmlns: "w:m", to: "@s.whatsapp.net" },
      content: [{ tag: "media_conn", attrs: {} }],
    })) as BinaryNode;
    const connection = childrenOf(result).find(({ tag }) => tag === "media_conn");
    const hosts = childrenOf(connection)
      .filter(({ tag, attrs }) => tag === "host" && attrs.hostname !== undefined)
      .map(({ attrs }) => attrs.hostname!);
    const auth = connection?.attrs.auth;
    if (auth === undefined || hosts.length === 0) throw new Error("WhatsApp did not name a host for files.");
    if (known) known.until = now() + SECOND_MS * (Number(connection?.attrs.ttl) || DEFAULT_TTL_SECONDS);
    return { hosts, auth };
  }

  return {
    get(fresh = false) {
      if (known !== null && !fresh && known.until > now()) return known.answer;
      const asked = { answer: ask(), until: Number.POSITIVE_INFINITY };
      known = asked;
      asked.answer.catch(() => {
        if (known === asked) known = null;
      });
      return asked.answer;
    },
  };
}
