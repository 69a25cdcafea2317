import { lidMap } from "../../drizzle/schema.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** What looking LIDs up takes. */
interface LidsOptions {
  store: Pick<Store, "readOne">;
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
}

const FIND = defineQuery("SELECT pn_user FROM lid_map WHERE device_id = ? AND lid_user = ?", {
  pnUser: lidMap.pnUser,
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
  };
}

/** `123:4@lid` → `123` */
function userOf(lid: string): string {
  return lid.replace(/[:@].*$/, "");
}
