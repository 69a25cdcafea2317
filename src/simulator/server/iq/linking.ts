import { IqError, MalformedIq } from "../iq-error.ts";
import type { World } from "../../world/world.ts";
import type { DeviceLists } from "../accounts/device-lists.ts";
import type { Pairing } from "../linking/pairing.ts";
import type { IqHandler } from "./handler.ts";

interface Needs {
  world: World;
  deviceLists: Pick<DeviceLists, "remove">;
  pairing: Pairing;
}

/** Linking and unlinking of companions (`md`), asked by companions and by phones. */
export const createLinkingHandlers = ({ world, deviceLists, pairing }: Needs): IqHandler[] => [
  {
    xmlns: "md",
    type: "set",
    child: "link_code_companion_reg",
    beforeLogin: true,
    answer({ connection, body }) {
      const { stage } = body.attrs;
      if (stage === "companion_hello") return pairing.companionHello(connection, body);
      if (stage === "companion_finish") return pairing.companionFinish(connection, body);
      if (stage === "primary_hello" && connection.device?.id === 0) return pairing.primaryHello(body);
      throw new MalformedIq(`link code stage ${stage}`);
    },
  },
  {
    xmlns: "md",
    type: "set",
    child: "pair-device",
    async answer({ device, body }) {
      if (device.id !== 0) throw new MalformedIq("only a phone links companions");
      return await pairing.pairDevice(device, body);
    },
  },
  {
    xmlns: "md",
    type: "set",
    child: "remove-companion-device",
    answer({ device, body }) {
      const target = world.device(body.attrs.jid);
      const mayRemove = target?.account === device.account && (device.id === 0 || target === device);
      if (!target || target.id === 0 || !mayRemove) throw new IqError(404, "item-not-found");
      // The answer goes out before the connection ends.
      queueMicrotask(() => deviceLists.remove(target));
      return [];
    },
  },
];
