import { children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import type { IqHandler } from "./handler.ts";

const COLLECTIONS = new Set([
  "critical_block",
  "critical_unblock_low",
  "regular_high",
  "regular_low",
  "regular",
]);

const prop = (code: string, value: string): BinaryNode =>
  element("prop", { config_code: code, config_value: value });

/** Settings of the account as a whole: experiment props, blocklist, app state. */
export const accountHandlers: IqHandler[] = [
  {
    xmlns: "abt",
    type: "get",
    child: "props",
    answer({ body }) {
      const hash = "simulator-1";
      if (body.attrs.hash === hash) return [element("props", { hash, delta_update: "true" })];
      // These props: privacy tokens on direct messages and profile pictures, issued to phone-number addresses.
      return [
        element("props", { hash }, [prop("10518", "true"), prop("9666", "true"), prop("14303", "false")]),
      ];
    },
  },
  { xmlns: "blocklist", type: "get", answer: () => [element("list", {}, [])] },
  { xmlns: "blocklist", type: "set", child: "item", answer: () => [element("list", {}, [])] },
  {
    xmlns: "w:sync:app:state",
    type: "set",
    child: "sync",
    /** Every collection is empty and stays at its first version; what a client writes is refused as a conflict. */
    answer({ body }) {
      const answers = children(body, "collection").map(({ attrs, content }) => {
        if (!COLLECTIONS.has(attrs.name ?? "")) throw new MalformedIq(`app state collection ${attrs.name}`);
        if (Array.isArray(content) && content.length > 0) throw new IqError(409, "conflict");
        return element("collection", { name: attrs.name, version: "0", has_more_patches: "false" });
      });
      return [element("sync", {}, answers)];
    },
  },
];
