import type { BinaryNode, GroupMetadata, WAMessageAddressingMode, WASocket } from "@whiskeysockets/baileys";
import type { ChatTimer } from "../content/chat-timer.ts";
import { createGroupCache } from "./group-cache.ts";
import { ALL_GROUPS, oneGroup, pairsOf, readGroup, readGroups } from "./group-nodes.ts";
import { isGroup, toPn } from "../jids.ts";
import { childOf } from "../nodes.ts";
import { RateOverlimit, type GroupChange, type GroupInfo } from "../port.ts";

const TOO_MANY_REQUESTS = 429;

/** Groups as one connection knows them. */
export interface Groups {
  /** All groups, asked of WhatsApp now. Rejects with `RateOverlimit`, or when it does not answer. */
  all(): Promise<GroupInfo[]>;
  /** One group, asked of WhatsApp now; see the port. Sends need not ask for it again. */
  one(jid: string): Promise<GroupInfo | null>;
  /** Members and settings of one group as sends need them. */
  cached(jid: string): Promise<GroupInfo>;
  /** The same in the shape in which Baileys asks for it. */
  metadata(jid: string): Promise<GroupMetadata>;
  /** WhatsApp tells of a group. */
  change(change: GroupChange): void;
  forget(jid: string): void;
  /**
   * The server names a group's members by another kind of address than the message did that it has refused. The group is asked for
   * anew; members whose address of that kind is not known are left to the server to name.
   */
  readdress(jid: string, addressing: GroupInfo["addressing"] | null): Promise<void>;
  /** Is it the announcement group of a community? False for what is no group, or cannot be asked now. */
  isAnnouncements(jid: string): Promise<boolean>;
  /** After how long its messages disappear, as far as sends know the group. */
  timer(jid: string): Promise<ChatTimer>;
}

/** Group questions of one connection. Pairs of numbers and LIDs in the answers are stored. */
export function createGroups(socket: () => WASocket): Groups {
  const learn = (groups: GroupInfo[]): Promise<unknown> =>
    socket().signalRepository.lidMapping.storeLIDPNMappings(
      groups.flatMap(({ participants }) => pairsOf(participants)),
    );
  const cache = createGroupCache(async (jid) => {
    const node = childOf(await ask(socket(), oneGroup(jid)), "group");
    if (node === undefined)
      throw new Error("WhatsApp answered the query for a group without naming a group.");
    const group = readGroup(node);
    await learn([group]);
    return group;
  });
  return {
    async all() {
      // The node is copied, because Baileys writes the question's id into it.
      const groups = readGroups(await ask(socket(), { ...ALL_GROUPS, attrs: { ...ALL_GROUPS.attrs } }));
      await learn(groups);
      return groups;
    },
    async one(jid) {
      cache.forget(jid);
      try {
        return await cache.get(jid);
      } catch (error) {
        if (isNoMember(error)) return null;
        throw error;
      }
    },
    cached: cache.get,
    metadata: async (jid) => asMetadata(await cache.get(jid)),
    change: cache.change,
    forget: cache.forget,
    async readdress(jid, addressing) {
      cache.forget(jid);
      if (addressing === null) return;
      // Without an answer it is the next question that says why.
      const group = await cache.get(jid).catch(() => null);
      if (group === null || group.addressing === addressing) return;
      cache.change({ id: jid, kind: "group", group: inForm(group, addressing) });
    },
    isAnnouncements: async (jid) =>
      isGroup(jid) &&
      (await cache.get(jid).then(
        ({ announcements }) => announcements,
        () => false,
      )),
    timer: (jid) =>
      cache.get(jid).then(
        ({ ephemeral }) => ({ seconds: ephemeral, since: 0 }),
        () => ({ seconds: 0, since: 0 }),
      ),
  };
}

async function ask(socket: WASocket, question: BinaryNode): Promise<BinaryNode> {
  try {
    const answer = (await socket.query(question)) as BinaryNode | undefined;
    if (answer === undefined) throw new Error("WhatsApp did not answer the query for groups.");
    return answer;
  } catch (error) {
    if ((error as { data?: unknown }).data === TOO_MANY_REQUESTS) throw new RateOverlimit();
    throw error;
  }
}

/** WhatsApp's codes for a group that there is not, or whose members alone may look at it. */
const NO_MEMBER = new Set([401, 403, 404, 410]);

/** Whether WhatsApp refused a question about a group because the number has no part in it. */
export const isNoMember = (error: unknown): boolean =>
  NO_MEMBER.has((error as { data?: unknown } | null)?.data as number);

/** The members by the other kind of address, as far as it is known. */
function inForm(group: GroupInfo, addressing: GroupInfo["addressing"]): GroupInfo {
  const participants = group.participants.flatMap((member) => {
    const id = addressing === "lid" ? member.lid : member.number && toPn(member.number);
    return id ? [{ ...member, id }] : [];
  });
  return { ...group, addressing, participants };
}

/** What Baileys reads of a group when it writes to it. */
function asMetadata(group: GroupInfo): GroupMetadata {
  return {
    id: group.id,
    subject: group.subject,
    owner: undefined,
    addressingMode: group.addressing as WAMessageAddressingMode,
    participants: group.participants.map(({ id, admin }) => ({ id, admin: admin ? "admin" : null })),
    ...(group.ephemeral > 0 && { ephemeralDuration: group.ephemeral }),
  };
}
