import type { BinaryNode, GroupMetadata, WASocket } from "@whiskeysockets/baileys";
import type { ChatTimer } from "../content/chat-timer.ts";
import { createGroupCache } from "./group-cache.ts";
import { ALL_GROUPS, pairsOf, readGroups } from "./group-nodes.ts";
import { isGroup, isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { RateOverlimit, type GroupInfo } from "../port.ts";

const TOO_MANY_REQUESTS = 429;

/** Groups as one connection knows them. */
export interface Groups {
  /** All groups, asked of WhatsApp now. Rejects with `RateOverlimit`, or when it does not answer. */
  all(): Promise<GroupInfo[]>;
  /** One group, asked of WhatsApp now; see the port. Sends need not ask for it again. */
  one(jid: string): Promise<GroupInfo | null>;
  /** Members and settings of one group as sends need them. */
  cached(jid: string): Promise<GroupMetadata>;
  forget(jid: string): void;
  /** Is it the announcement group of a community? False for what is no group, or cannot be asked now. */
  isAnnouncements(jid: string): Promise<boolean>;
  /** After how long its messages disappear, as far as sends know the group. */
  timer(jid: string): Promise<ChatTimer>;
}

/** Group questions of one connection. Pairs of numbers and LIDs in the answers are stored. */
export function createGroups(socket: () => WASocket): Groups {
  const cache = createGroupCache(async (jid) => {
    const metadata = await socket().groupMetadata(jid);
    await socket().signalRepository.lidMapping.storeLIDPNMappings(pairsIn(metadata));
    return metadata;
  });
  return {
    async all() {
      const answer = await askAll(socket());
      const groups = readGroups(answer);
      await socket().signalRepository.lidMapping.storeLIDPNMappings(
        groups.flatMap(({ participants }) => pairsOf(participants)),
      );
      return groups;
    },
    async one(jid) {
      cache.forget(jid);
      try {
        return asInfo(await cache.get(jid));
      } catch (error) {
        if (isNoMember(error)) return null;
        if ((error as { data?: unknown }).data === TOO_MANY_REQUESTS) throw new RateOverlimit();
        throw error;
      }
    },
    cached: cache.get,
    forget: cache.forget,
    isAnnouncements: async (jid) =>
      isGroup(jid) &&
      (await cache.get(jid).then(
        ({ isCommunityAnnounce }) => isCommunityAnnounce === true,
        () => false,
      )),
    timer: (jid) =>
      cache.get(jid).then(
        ({ ephemeralDuration = 0 }) => ({ seconds: ephemeralDuration, since: 0 }),
        () => ({ seconds: 0, since: 0 }),
      ),
  };
}

async function askAll(socket: WASocket): Promise<BinaryNode> {
  try {
    // The node is copied, because Baileys writes the question's id into it.
    const answer = (await socket.query({ ...ALL_GROUPS, attrs: { ...ALL_GROUPS.attrs } })) as
      | BinaryNode
      | undefined;
    if (answer === undefined) throw new Error("WhatsApp has not answered the question for the groups.");
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

/** A group as the library reads it. */
function asInfo(group: GroupMetadata): GroupInfo {
  const participants = group.participants.map(({ id, phoneNumber, lid, admin }) => {
    const ids = [id, phoneNumber, lid].map(withoutDevice);
    const pn = ids.find(isPn);
    return {
      id: ids[0]!,
      number: pn === undefined ? null : userOf(pn),
      lid: ids.find(isLid) ?? null,
      admin: admin === "admin" || admin === "superadmin",
    };
  });
  return {
    id: group.id,
    subject: group.subject,
    participants,
    size: Math.max(Number(group.size ?? 0) || 0, participants.length),
    announce: group.announce === true,
    community: group.isCommunity === true,
    addressing: String(group.addressingMode) === "lid" ? "lid" : "pn",
  };
}

function pairsIn({ participants }: GroupMetadata): { pn: string; lid: string }[] {
  return participants.flatMap(({ id, phoneNumber, lid }) => {
    const ids = [id, phoneNumber, lid].map(withoutDevice);
    const pn = ids.find(isPn);
    const ofLid = ids.find(isLid);
    return pn && ofLid ? [{ pn, lid: ofLid }] : [];
  });
}
