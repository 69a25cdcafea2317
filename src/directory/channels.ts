import { channels } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { Page, PageWanted } from "../model/page.ts";
import { definePages, ROWS_OF_PAGE } from "../store/pages.ts";
import { defineQuery, text } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { ChannelChange, ChannelInfo, WhatsAppConnection } from "../whatsapp/port.ts";
import { createOneByOne } from "./ask-one.ts";

export { CHANNEL_ROLES } from "../whatsapp/port.ts";

type Line = Pick<WhatsAppConnection, "channel" | "followChannel" | "unfollowChannel">;

/** A registered channel as `GET /channels` shows it. */
export interface ChannelRecord {
  /** `…@newsletter` */
  id: string;
  name: string;
  role: ChannelInfo["role"];
  /** Owners and admins post; all others read. */
  canSend: boolean;
}

/** What channels take. */
interface ChannelsDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "now" | "time">;
  log: Logger;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Line | null;
}

/** Channels that a number has registered. */
export interface Channels {
  /** Registered channels of a number, newest first, with the roles that they had when WhatsApp was last asked. */
  list(deviceId: number, wanted: PageWanted): Promise<Page<ChannelRecord>>;
  /**
   * Registers a channel, and follows it where the number is nothing in it yet. Done again, it renews name and role.
   *
   * @throws NOT_ON_WHATSAPP when there is no such channel; WHATSAPP_REFUSED when it cannot be asked, or refuses
   */
  add(deviceId: number, channel: { invite: string } | { id: string }): Promise<ChannelRecord>;
  /**
   * Forgets a channel and stops following it; who owns or runs it stays what he is.
   *
   * @returns false when it is not registered
   * @throws WHATSAPP_REFUSED as above; the channel stays registered
   */
  remove(deviceId: number, id: string): Promise<boolean>;
  /** Why a post there would be in vain; null for what is no channel. One that is not registered is asked for. */
  refusal(
    deviceId: number,
    jid: string,
  ): Promise<{ code: "CANNOT_SEND"; reason: "not_channel_admin" } | null>;
  /**
   * WhatsApp tells of channels: those that are registered follow, and are asked for where what is told is not enough. One that is no
   * more stays registered, as one that the number is nothing in. No changes: all of them, somehow.
   */
  changed(deviceId: number, changes: ChannelChange[]): void;
  /** The number is erased. */
  forget(deviceId: number): void;
}

const SHAPE = {
  id: channels.id,
  name: channels.name,
  role: text<ChannelInfo["role"]>(),
  canSend: channels.canSend,
};
const FIND = defineQuery(
  "SELECT id, name, role, can_send FROM channels WHERE device_id = ? AND id = ?",
  SHAPE,
);
const PAGES = definePages("channels", "device_id = ?1", 1);
const ROWS = defineQuery(`SELECT id, name, role, can_send FROM channels ${ROWS_OF_PAGE}`, SHAPE);
/** So many are asked for when WhatsApp says of none what has changed: half of what may be asked in a minute, which sends need as well. */
const SOME = defineQuery("SELECT id FROM channels WHERE device_id = ? LIMIT 10", { id: channels.id });
const KEEP = `INSERT INTO channels (device_id, id, name, role, can_send, created_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (device_id, id) DO UPDATE SET name = excluded.name, role = excluded.role, can_send = excluded.can_send`;
// A channel that was removed while WhatsApp was asked stays removed.
const RENEW = "UPDATE channels SET name = ?, role = ?, can_send = ? WHERE device_id = ? AND id = ?";
const RENAME = "UPDATE channels SET name = ? WHERE device_id = ? AND id = ?";
const SET_ROLE = "UPDATE channels SET role = ?, can_send = ? WHERE device_id = ? AND id = ?";

/** Roles are asked of WhatsApp again when one that is kept would refuse a post. */
export function createChannels({ store, log, connection }: ChannelsDeps): Channels {
  const oneByOne = createOneByOne<ChannelInfo>(store.time, ({ role }) => canSendAs(role));

  const find = (deviceId: number, id: string): Promise<ChannelRecord | null> =>
    store.readOne(FIND, [deviceId, id]);

  /** Null when WhatsApp cannot be asked now. */
  async function mayPostNow(deviceId: number, id: string, isRegistered: boolean): Promise<boolean | null> {
    const line = connection(deviceId);
    const asked =
      line &&
      (await oneByOne.ask(deviceId, id, async () => {
        const info = await line.channel({ id });
        if (info === null || !isRegistered) return info;
        const { name, role } = info;
        await store.writer.commit([{ sql: RENEW, args: [name, role, canSendAs(role), deviceId, id] }]);
        return info;
      }));
    return asked && asked.value !== null && canSendAs(asked.value.role);
  }

  async function follow(deviceId: number, changes: ChannelChange[]): Promise<void> {
    const statements = changes.flatMap((change) => statementsOf(deviceId, change));
    if (statements.length > 0) await store.writer.commit(statements);
    const unsure = changes.filter(({ unknown }) => unknown).map(({ id }) => id);
    const ids = changes.length > 0 ? unsure : (await store.read(SOME, [deviceId])).map(({ id }) => id);
    // One after the other: nobody waits for it, and WhatsApp limits how often it may be asked.
    for (const id of ids) if ((await find(deviceId, id)) !== null) await mayPostNow(deviceId, id, true);
  }

  return {
    async list(deviceId, wanted) {
      const { rowids, ...page } = await PAGES.find(store, [deviceId], wanted);
      return { ...page, items: await store.read(ROWS, [rowids]) };
    },

    changed(deviceId, changes) {
      oneByOne.changed(
        deviceId,
        changes.map(({ id }) => id),
      );
      follow(deviceId, changes).catch((error: Error) =>
        log.warn({ err: error, device: deviceId }, "could not store a change of channels"),
      );
    },

    async add(deviceId, channel) {
      const { id, name, role } = await followed(open(connection(deviceId)), channel);
      const canSend = canSendAs(role);
      await store.writer.commit([{ sql: KEEP, args: [deviceId, id, name, role, canSend, store.now()] }]);
      oneByOne.changed(deviceId, [id]);
      return { id, name, role, canSend };
    },

    async remove(deviceId, id) {
      const channel = await find(deviceId, id);
      if (channel === null) return false;
      if (channel.role === "subscriber") await open(connection(deviceId)).unfollowChannel(id).catch(refused);
      await store.writer.commit([
        { sql: "DELETE FROM channels WHERE device_id = ? AND id = ?", args: [deviceId, id] },
      ]);
      return true;
    },

    async refusal(deviceId, jid) {
      if (!jid.endsWith("@newsletter")) return null;
      const channel = await find(deviceId, jid);
      if (channel?.canSend) return null;
      // What is not registered is WhatsApp's to judge when it cannot be asked.
      const mayPost = (await mayPostNow(deviceId, jid, channel !== null)) ?? channel === null;
      return mayPost ? null : { code: "CANNOT_SEND", reason: "not_channel_admin" };
    },

    forget: (deviceId) => oneByOne.changed(deviceId),
  };
}

/** The channel as it is to a number that follows it at least. */
async function followed(line: Line, channel: { invite: string } | { id: string }): Promise<ChannelInfo> {
  const info = await line.channel(channel).catch(refused);
  if (info === null) throw new GatewayError("NOT_ON_WHATSAPP", "WhatsApp does not know this channel.");
  if (info.role !== "guest") return info;
  await line.followChannel(info.id).catch(refused);
  return { ...info, role: "subscriber" };
}

/** Channels that are not registered have no row, and get none. */
function statementsOf(deviceId: number, { id, name, role, deleted }: ChannelChange): Statement[] {
  const current = deleted ? "guest" : role;
  return [
    ...(name === undefined ? [] : [{ sql: RENAME, args: [name, deviceId, id] }]),
    ...(current === undefined ? [] : [{ sql: SET_ROLE, args: [current, canSendAs(current), deviceId, id] }]),
  ];
}

const canSendAs = (role: ChannelInfo["role"]): boolean => role === "owner" || role === "admin";

function open(line: Line | null): Line {
  if (line !== null) return line;
  throw new GatewayError(
    "WHATSAPP_REFUSED",
    "The number is connecting, so its channels cannot be read now. Try again in a moment.",
  );
}

function refused(error: unknown): never {
  const { data, output } = error as { data?: unknown; output?: { statusCode?: number } };
  const code = typeof data === "number" ? data : output?.statusCode;
  throw new GatewayError("WHATSAPP_REFUSED", "WhatsApp refused the request for this channel.", {
    ...(code !== undefined && { extra: { whatsapp_code: code } }),
  });
}
