import { DEFAULT_WAIT_MS } from "./patience.ts";
import type { StanzaLog } from "../server/stanza-log.ts";
import type { CompanionInfo } from "../surface/accounts.ts";
import type { WireMethods } from "../surface/stanzas.ts";
import type { Violations } from "../violations.ts";
import type { Device } from "../world/accounts.ts";
import type { World } from "../world/world.ts";

interface Needs {
  world: World;
  stanzas: StanzaLog;
  violations: Violations;
  until(condition: () => boolean, timeoutMs: number): Promise<boolean>;
}

/** Observing the wire and who is connected, and waiting for it. */
export function createWireMethods({ world, stanzas, violations, until }: Needs): WireMethods {
  return {
    async stanzas(filter) {
      return stanzas.find(filter);
    },

    async countStanzas(filter) {
      return stanzas.count(filter);
    },

    async violations() {
      return violations.all();
    },

    async expectViolation(rule, { timeoutMs = DEFAULT_WAIT_MS } = {}) {
      const happened = () => violations.all().some((violation) => violation.rule === rule);
      if (await until(happened, timeoutMs)) return violations.take(rule);
      const others = JSON.stringify(violations.all());
      throw new Error(`no violation of ${rule} within ${timeoutMs} ms, only ${others}`);
    },

    async settle(timeoutMs = DEFAULT_WAIT_MS) {
      if (await until(() => unacknowledged(world).length === 0, timeoutMs)) return;
      for (const { device, node } of unacknowledged(world)) {
        const { id, from, type } = node.attrs;
        violations.report("missing_ack", device.label, `${node.tag} ${type ?? ""} ${id} from ${from}`);
      }
    },

    async online(number, device) {
      return companionsOf(world, number, device).some(({ active }) => active);
    },

    async waitOnline(number, timeoutMs = DEFAULT_WAIT_MS) {
      const online = () => companionsOf(world, number).some(({ active }) => active);
      if (await until(online, timeoutMs)) return;
      throw new Error(`no companion of ${number} came online within ${timeoutMs} ms`);
    },

    async pending(number, device) {
      return companionsOf(world, number, device).reduce((sum, { queue }) => sum + queue.size, 0);
    },
  };
}

/** A number's linked devices, or just the given one. @throws when there is no such account */
export function companionsOf(world: World, number: string, device?: number): Device[] {
  const devices = [...world.account(number).devices.values()];
  return devices.filter(({ id }) => (device === undefined ? id !== 0 : id === device));
}

/** A linked device as callers see it. */
export function companionInfo(device: Device): CompanionInfo {
  return { device: device.id, jid: device.pn, online: device.active, preKeys: device.preKeys.size };
}

/** Stanzas sent on connections that are still open and not acknowledged yet. */
function unacknowledged(world: World) {
  const devices = [...world.accounts.values()].flatMap((account) => [...account.devices.values()]);
  return devices.flatMap((device) =>
    device.queue
      .waiting()
      .filter(({ sentOn }) => sentOn !== undefined && sentOn === device.connection)
      .map(({ node }) => ({ device, node })),
  );
}
