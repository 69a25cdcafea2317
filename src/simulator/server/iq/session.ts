import { children } from "../../wire/nodes.ts";
import type { DirtyBits } from "../accounts/dirty-bits.ts";
import type { Login } from "../login.ts";
import type { IqHandler } from "./handler.ts";

/** Things that concern the connection itself: `passive`, pings, statistics. */
export const createSessionHandlers = ({
  activate,
  dirtyBits,
}: Pick<Login, "activate"> & { dirtyBits: DirtyBits }): IqHandler[] => [
  {
    xmlns: "passive",
    type: "set",
    child: "active",
    answer({ device }) {
      // The answer goes out first, then what waited.
      queueMicrotask(() => activate(device));
      return [];
    },
  },
  {
    xmlns: "passive",
    type: "set",
    child: "passive",
    answer({ device }) {
      device.active = false;
      return [];
    },
  },
  { xmlns: "w:p", type: "get", beforeLogin: true, answer: () => [] },
  { xmlns: "urn:xmpp:ping", type: "get", beforeLogin: true, answer: () => [] },
  {
    xmlns: "urn:xmpp:whatsapp:dirty",
    type: "set",
    child: "clean",
    answer({ device, iq }) {
      for (const { attrs } of children(iq, "clean")) dirtyBits.clean(device, attrs.type ?? "");
      return [];
    },
  },
  { xmlns: "w:stats", type: "set", answer: () => [] },
  { xmlns: "w:stats", type: "get", answer: () => [] },
];
