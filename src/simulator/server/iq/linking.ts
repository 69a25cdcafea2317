import { IqError, MalformedIq } from "../iq-error.ts";
import { removeDevice } from "../device-lists.ts";
import type { IqHandler } from "./handler.ts";

/** Linking and unlinking of companions, asked by companions and by phones. */
export const linkingHandlers: IqHandler[] = [
  {
    xmlns: "md",
    type: "set",
    child: "link_code_companion_reg",
    beforeLogin: true,
    answer({ server, connection, body }) {
      const { stage } = body.attrs;
      if (stage === "companion_hello") return server.pairing.companionHello(connection, body);
      if (stage === "companion_finish") return server.pairing.companionFinish(connection, body);
      if (stage === "primary_hello" && connection.device?.id === 0) return server.pairing.primaryHello(body);
      throw new MalformedIq(`link code stage ${stage}`);
    },
  },
  {
    xmlns: "md",
    type: "set",
    child: "pair-device",
    async answer({ server, device, body }) {
      if (device.id !== 0) throw new MalformedIq("only a phone links companions");
      return await server.pairing.pairDevice(device, body);
    },
  },
  {
    xmlns: "md",
    type: "set",
    child: "remove-companion-device",
    answer({ server, device, body }) {
      const target = server.world.device(body.attrs.jid);
      const mayRemove = target?.account === device.account && (device.id === 0 || target === device);
      if (!target || target.id === 0 || !mayRemove) throw new IqError(404, "item-not-found");
      // The answer goes out before the connection ends.
      queueMicrotask(() => removeDevice(server, target));
      return [];
    },
  },
];
