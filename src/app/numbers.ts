import { limitOf } from "../accounts/plans.ts";
import { createInbox } from "../inbox/inbox.ts";
import { createNumbers, type Numbers } from "../numbers/numbers.ts";
import { REMOVE } from "../numbers/questions.ts";
import type { Observer } from "../path/observers.ts";
import type { MessagePath } from "../path/path.ts";
import type { Erasure } from "../retention/erasure.ts";
import { joinIntakes } from "../store/write/intake.ts";
import type { Base, Data } from "./data.ts";
import { createPossession, type Possession } from "./possession.ts";

/** A number in one of these has no phone any more that its queue could be meant for. */
const NO_PHONE = new Set(["unlinked", "logged_out", "blocked"]);

/** What follows numbers, and what they need. */
type NumbersData = Pick<
  Data,
  "audit" | "channels" | "groups" | "http" | "whatsapp" | "contactNotes" | "chatSettings" | "presenceWatch"
>;

/** Numbers bring messages in and carry the outbox out: from here on connections can be looked up. */
export function openNumbers(
  base: Base,
  data: NumbersData,
  path: MessagePath,
  erase: Erasure["erase"],
): { numbers: Numbers; possession: Possession } & Pick<Numbers, "register" | "remove"> {
  const { config, log, store, cluster, news, connections, observers } = base;
  const { audit, channels, groups, http, whatsapp, contactNotes, presenceWatch } = data;
  const forgetful = [groups, channels, audit, contactNotes, presenceWatch];
  const numbers = createNumbers({
    store,
    log,
    cluster,
    news,
    onNew: (deviceId) => possession.added(deviceId),
    onGone: (deviceId) => void forgetNumber(deviceId, path, forgetful),
    onTaken: (deviceId) => possession.taken(deviceId),
    loginEveryMs: () => possession.loginEveryMs(),
    holdups: path.holdups,
    whatsapp,
    passkeys: config.passkeyLinking,
    erase,
    checkProxy: http.check,
    deviceLimit: (accountId) => limitOf(store, config, accountId, "devices"),
    beforeReading: path.settle,
    onMessages(deviceId, ownNumber, messages) {
      const { statements, stored } = audit.found(deviceId, messages);
      return joinIntakes(path.receive(deviceId, ownNumber, messages), { statements, committed: stored });
    },
    onImported: createInbox(store).importMessages,
    onAcknowledged(deviceId, event) {
      if (event.type === "receipts") audit.receipts(deviceId, event.receipts);
      return path.acknowledged(deviceId, event);
    },
    onMoved({ id, number, state, since }) {
      const { reason = null, until = null } = numbers.whyHere(id) ?? {};
      return path.moved(id, { number, state, at: since, reason, until });
    },
    tell: observers.tell,
  });
  observers.add(followNumbers(data, path, numbers));
  connections.serve({
    ...numbers,
    number: (deviceId) => numbers.get(deviceId)?.number ?? null,
    accountOf: (deviceId) => numbers.get(deviceId)?.accountId ?? null,
    callsText: (deviceId) => numbers.get(deviceId)?.callsText ?? null,
    deviceOf: (accountId, number) => numbers.find(accountId, number)?.id ?? null,
  });
  const possession = createPossession({
    cluster,
    log,
    time: store.time,
    numbers,
    path,
    whatsapp,
    forgetful,
    rereading: [audit],
    onOpened: (deviceId) => showLock(numbers, path, deviceId),
  });
  return {
    numbers: { ...numbers, stop: () => stopBoth(possession, numbers) },
    possession,
    ...withPath(base, numbers, path, possession, forgetful),
  };
}

function stopBoth(possession: Possession, numbers: Numbers): Promise<void> {
  possession.stop();
  return numbers.stop();
}

/** Those who follow what numbers are told. */
const followNumbers = (
  { groups, channels, chatSettings, presenceWatch }: NumbersData,
  path: Pick<MessagePath, "unlinked">,
  numbers: Pick<Numbers, "reachout">,
): Observer => ({
  groups: ({ deviceId, changes }) => groups.changed(deviceId, changes),
  channels: ({ deviceId, changes }) => channels.changed(deviceId, changes),
  seen: ({ deviceId, presence }) => presenceWatch.seen(deviceId, presence),
  online: ({ deviceId }) => presenceWatch.online(deviceId),
  chatSettings: ({ deviceId, changes }) => chatSettings.told(deviceId, changes),
  reachout: ({ deviceId, lock }) => numbers.reachout(deviceId, lock),
  device({ deviceId, record }) {
    // After a ban that ends it goes on with what it had.
    const comesBack = record.state === "blocked" && record.lastClose?.until !== undefined;
    if (NO_PHONE.has(record.state) && !comesBack) void path.unlinked(deviceId);
  },
});

/** Locks on first contacts that an earlier run has stored stand on the numbers' records. Call it when both are loaded. */
export function showLocks(numbers: Pick<Numbers, "ids" | "reachout">, path: MessagePath): void {
  for (const id of numbers.ids()) showLock(numbers, path, id);
}

function showLock(
  numbers: Pick<Numbers, "reachout">,
  { holdups }: Pick<MessagePath, "holdups">,
  deviceId: number,
): void {
  const lock = holdups(deviceId).reachout;
  if (lock !== null) numbers.reachout(deviceId, lock);
}

/** Numbers that come and go while the gateway runs: whoever has them works for them from then on, or no longer. */
function withPath(
  { cluster }: Base,
  numbers: Numbers,
  path: MessagePath,
  possession: Possession,
  forgetful: Forgetful[],
): Pick<Numbers, "register" | "remove"> {
  cluster.bus.answer(REMOVE, async (deviceId) => {
    await path.close(deviceId);
    await numbers.remove(deviceId).catch(async (error: unknown) => {
      // It is still there, and goes on.
      await path.open(deviceId);
      throw error;
    });
    await forgetNumber(deviceId, path, forgetful);
    return null;
  });
  return {
    async register(accountId, number) {
      const device = await numbers.register(accountId, number);
      if (cluster.ownership.owns(device.id)) await possession.added(device.id);
      return device;
    },
    async remove(deviceId) {
      await cluster.bus.ask(REMOVE, deviceId, null);
    },
  };
}

/** Remembers something of numbers. */
interface Forgetful {
  forget(deviceId: number): unknown;
}

/** The number is erased. */
async function forgetNumber(deviceId: number, path: MessagePath, forgetful: Forgetful[]): Promise<void> {
  for (const part of [path, ...forgetful]) await part.forget(deviceId);
}
