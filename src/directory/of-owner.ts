import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { SECOND_MS } from "../model/time.ts";
import { StorageUnavailable } from "../store/errors.ts";
import type { ChannelRecord, Channels } from "./channels.ts";
import type { GroupList, Groups } from "./groups.ts";
import type { Lids } from "./lids.ts";
import type { NumberCheck, NumberChecks } from "./number-checks.ts";
import type { StoredLists } from "./stored-groups.ts";

type Refusal = Awaited<ReturnType<Groups["refusal"]>>;
type ChannelRefusal = Awaited<ReturnType<Channels["refusal"]>>;

/** The list itself is in store by then: it may be larger than what goes from node to node. */
const GROUPS = defineQuestion<{ refresh: boolean }, Omit<GroupList, "groups">>(
  "directory.groups",
  20 * SECOND_MS,
);
const GROUP_REFUSAL = defineQuestion<string, Refusal>("directory.group-refusal", 8 * SECOND_MS);
const CHANNEL_REFUSAL = defineQuestion<string, ChannelRefusal>("directory.channel-refusal", 8 * SECOND_MS);
const ADD_CHANNEL = defineQuestion<Parameters<Channels["add"]>[1], ChannelRecord>(
  "directory.add-channel",
  30 * SECOND_MS,
);
const REMOVE_CHANNEL = defineQuestion<string, boolean>("directory.remove-channel", 30 * SECOND_MS);
const CHECK_NUMBERS = defineQuestion<readonly string[], NumberCheck[]>(
  "directory.check-numbers",
  25 * SECOND_MS,
);
const RESOLVE_LID = defineQuestion<string, string | null>("directory.resolve-lid", 20 * SECOND_MS);

/**
 * Groups, for whichever node is asked for them: their number's owner knows what WhatsApp has told since the list was stored,
 * and is the one that can ask it.
 */
export function groupsOfOwner({ bus, ownership }: Cluster, own: Groups, lists: StoredLists): Groups {
  bus.answer(GROUPS, async (deviceId, options) => {
    const { groups: _, ...facts } = await own.list(deviceId, options);
    return facts;
  });
  bus.answer(GROUP_REFUSAL, own.refusal);
  return {
    ...own,
    async list(deviceId, options) {
      if (ownership.owns(deviceId)) return own.list(deviceId, options);
      const facts = await bus.ask(GROUPS, deviceId, options);
      const stored = await lists.read(deviceId);
      return { ...facts, groups: stored?.groups ?? [] };
    },
    async refusal(deviceId, jid) {
      if (!jid.endsWith("@g.us")) return null;
      return bus.ask(GROUP_REFUSAL, deviceId, jid).catch(leftToOwner);
    },
  };
}

/** Channels, for whichever node is asked for them: their number's owner follows them, and leaves them. */
export function channelsOfOwner({ bus }: Cluster, own: Channels): Channels {
  bus.answer(ADD_CHANNEL, own.add);
  bus.answer(REMOVE_CHANNEL, own.remove);
  bus.answer(CHANNEL_REFUSAL, own.refusal);
  return {
    ...own,
    add: (deviceId, channel) => bus.ask(ADD_CHANNEL, deviceId, channel),
    remove: (deviceId, id) => bus.ask(REMOVE_CHANNEL, deviceId, id),
    async refusal(deviceId, jid) {
      if (!jid.endsWith("@newsletter")) return null;
      return bus.ask(CHANNEL_REFUSAL, deviceId, jid).catch(leftToOwner);
    },
  };
}

/** LIDs, for whichever node is asked for them: what no row has the owner of the number asks WhatsApp for. */
export function lidsOfOwner({ bus }: Cluster, own: Lids): Lids {
  bus.answer(RESOLVE_LID, own.resolve);
  return { ...own, resolve: (deviceId, lid) => bus.ask(RESOLVE_LID, deviceId, lid) };
}

/** Number checks, for whichever node is asked: the owner of the asking number asks WhatsApp. */
export function checksOfOwner({ bus }: Cluster, own: NumberChecks): NumberChecks {
  bus.answer(CHECK_NUMBERS, own.check);
  return { check: (deviceId, numbers) => bus.ask(CHECK_NUMBERS, deviceId, numbers) };
}

/** A send is taken all the same: its number's owner looks again before it leaves. */
function leftToOwner(error: unknown): null {
  const isOwnFault = error instanceof StorageUnavailable;
  if (!isOwnFault && error instanceof GatewayError && error.code === "UNAVAILABLE") return null;
  throw error;
}
