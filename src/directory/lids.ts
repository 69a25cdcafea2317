import { lidMap } from "../../drizzle/schema.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** What looking LIDs up takes. */
interface LidsOptions {
  store: Pick<Store, "read" | "readOne">;
  /** The linked number's own pair. */
  identity: (deviceId: number) => { number: string; lid: string | null } | null;
  /** Asks WhatsApp for what may hold unknown pairs (the groups' members), when that is possible now. */
  learn?: (deviceId: number) => Promise<void>;
}

/** Who is behind a LID. Pairs are stored by the connection, from everything in which WhatsApp tells one. */
export interface Lids {
  /**
   * WhatsApp cannot be asked for the number behind a LID: it is known when some message, group or history told it.
   *
   * @param lid `<digits>@lid`, or its digits; a `:device` part is dropped
   * @returns digits, or null when not available
   */
  resolve(deviceId: number, lid: string): Promise<string | null>;
  /**
   * The key of the chat with `jid`: its phone number's form when that is known.
   *
   * @param jid address on the wire, without a device part
   */
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  /**
   * Other names of a destination that are known; nobody is asked.
   *
   * @param destination digits, `…@lid`, `…@g.us` or `…@newsletter`
   * @returns the digits behind a LID, or the LIDs of digits; empty when none is known
   */
  aliasesOf(deviceId: number, destination: string): Promise<string[]>;
}

const FIND = defineQuery("SELECT pn_user FROM lid_map WHERE device_id = ? AND lid_user = ?", {
  pnUser: lidMap.pnUser,
});
/** One person has one LID, and another after a change of the number. */
const LIDS_OF = defineQuery("SELECT lid_user FROM lid_map WHERE device_id = ? AND pn_user = ? LIMIT 10", {
  lidUser: lidMap.lidUser,
});

/** Reads the pairs that connections store; its own pair a number knows from its login. */
export function createLids({ store, identity, learn }: LidsOptions): Lids {
  async function known(deviceId: number, lidUser: string): Promise<string | null> {
    const pair = await store.readOne(FIND, [deviceId, lidUser]);
    if (pair !== null) return pair.pnUser;
    const own = identity(deviceId);
    return own?.lid && userOf(own.lid) === lidUser ? own.number : null;
  }

  return {
    async resolve(deviceId, lid) {
      const lidUser = userOf(lid);
      const number = await known(deviceId, lidUser);
      if (number !== null || learn === undefined) return number;
      await learn(deviceId);
      return known(deviceId, lidUser);
    },

    async canonicalChat(deviceId, jid) {
      if (!jid.endsWith("@lid")) return jid;
      const number = await known(deviceId, userOf(jid));
      return number === null ? jid : `${number}@s.whatsapp.net`;
    },

    async aliasesOf(deviceId, destination) {
      if (destination.endsWith("@lid")) {
        const number = await known(deviceId, userOf(destination));
        return number === null ? [] : [number];
      }
      if (destination.includes("@")) return [];
      const lids = await store.read(LIDS_OF, [deviceId, destination]);
      const own = identity(deviceId);
      const ownLid = own?.number === destination && own.lid ? [userOf(own.lid)] : [];
      return [...lids.map(({ lidUser }) => lidUser), ...ownLid].map((user) => `${user}@lid`);
    },
  };
}

/** `123:4@lid` → `123` */
function userOf(lid: string): string {
  return lid.replace(/[:@].*/s, "");
}
