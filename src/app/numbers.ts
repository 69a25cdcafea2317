import { limitOf } from "../accounts/plans.ts";
import { createNumbers, type Numbers } from "../numbers/numbers.ts";
import type { MessagePath } from "../path/path.ts";
import type { Erasure } from "../retention/erasure.ts";
import { joinIntakes } from "../store/intake.ts";
import type { Base, Data } from "./data.ts";

/** A number in one of these has no phone any more that its queue could be meant for. */
const NO_PHONE = new Set(["unlinked", "logged_out", "blocked"]);

/** Numbers bring messages in and carry the outbox out: from here on connections can be looked up. */
export function openNumbers(
  { config, log, store, connections, observers }: Base,
  { audit, channels, groups, whatsapp }: Pick<Data, "audit" | "channels" | "groups" | "whatsapp">,
  path: MessagePath,
  erase: Erasure["erase"],
): Numbers {
  const numbers = createNumbers({
    store,
    log,
    whatsapp,
    passkeys: config.passkeyLinking,
    erase,
    deviceLimit: (accountId) => limitOf(store, config, accountId, "devices"),
    onMessages(deviceId, ownNumber, messages) {
      const { statements, stored } = audit.found(deviceId, messages);
      return joinIntakes(path.receive(deviceId, ownNumber, messages), { statements, committed: stored });
    },
    onReceipts(deviceId, receipts) {
      path.receipts(deviceId, receipts);
      audit.receipts(deviceId, receipts);
    },
    onRead: path.read,
    onGroupsChanged: groups.changed,
    onChannelsChanged: channels.changed,
    onReachout: (deviceId, lock) => void path.outbox.reachoutTold(deviceId, lock),
    onOpen: (deviceId) => void path.online(deviceId),
    onMoved({ id, number, state, since }) {
      const { reason = null, until = null } = numbers.why(id) ?? {};
      return path.webhooks.notices.moved(id, { number, state, at: since, reason, until });
    },
    onState(device) {
      observers.device(device);
      // After a ban that ends it goes on with what it had.
      const comesBack = device.state === "blocked" && device.lastClose?.until !== undefined;
      if (NO_PHONE.has(device.state) && !comesBack) void path.unlinked(device.id);
    },
  });
  observers.add({ reachout: numbers.reachout });
  connections.serve({
    ...numbers,
    number: (deviceId) => numbers.get(deviceId)?.number ?? null,
    accountOf: (deviceId) => numbers.get(deviceId)?.accountId ?? null,
    callsText: (deviceId) => numbers.get(deviceId)?.callsText ?? null,
    deviceOf: (accountId, number) => numbers.find(accountId, number)?.id ?? null,
  });
  return numbers;
}

/** Locks on first contacts that an earlier run has stored stand on the numbers' records. Call it when both are loaded. */
export function showLocks(numbers: Pick<Numbers, "ids" | "reachout">, { outbox }: MessagePath): void {
  for (const id of numbers.ids()) {
    const lock = outbox.reachoutLock(id);
    if (lock !== null) numbers.reachout(id, lock);
  }
}

/** Numbers that come and go while the gateway runs: this process has them from then on, or no longer. */
export function withPath(
  numbers: Numbers,
  path: MessagePath,
  forgetful: { forget(deviceId: number): unknown }[],
): Pick<Numbers, "register" | "remove"> {
  return {
    async register(accountId, number) {
      const device = await numbers.register(accountId, number);
      await path.open(device.id);
      return device;
    },
    async remove(deviceId) {
      await path.close(deviceId);
      await numbers.remove(deviceId).catch(async (error: unknown) => {
        // It is still there, and goes on.
        await path.open(deviceId);
        throw error;
      });
      for (const part of [path, ...forgetful]) part.forget(deviceId);
    },
  };
}
