import type { BinaryNode, GroupMetadata, WASocket } from "@whiskeysockets/baileys";
import { createGroupCache } from "./group-cache.ts";
import { ALL_GROUPS, pairsOf, readGroups } from "./group-nodes.ts";
import { isGroup, isLid, isPn, withoutDevice } from "../jids.ts";
import { RateOverlimit, type GroupInfo } from "../port.ts";

const TOO_MANY_REQUESTS = 429;

/** Groups as one connection knows them. */
export interface Groups {
  /** All groups, asked of WhatsApp now. Rejects with `RateOverlimit`, or when it does not answer. */
  all(): Promise<GroupInfo[]>;
  /** Members and settings of one group as sends need them. */
  cached(jid: string): Promise<GroupMetadata>;
  forget(jid: string): void;
  /** Is it the announcement group of a community? False for what is no group, or cannot be asked now. */
  isAnnouncements(jid: string): Promise<boolean>;
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
    cached: cache.get,
    forget: cache.forget,
    isAnnouncements: async (jid) =>
      isGroup(jid) &&
      (await cache.get(jid).then(
        ({ isCommunityAnnounce }) => isCommunityAnnounce === true,
        () => false,
      )),
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

function pairsIn({ participants }: GroupMetadata): { pn: string; lid: string }[] {
  return participants.flatMap(({ id, phoneNumber, lid }) => {
    const ids = [id, phoneNumber, lid].map(withoutDevice);
    const pn = ids.find(isPn);
    const ofLid = ids.find(isLid);
    return pn && ofLid ? [{ pn, lid: ofLid }] : [];
  });
}
