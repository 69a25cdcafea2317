import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { IqHandler } from "./handler.ts";

const prop = (code: string, value: string): BinaryNode =>
  element("prop", { config_code: code, config_value: value });

/** Settings of the account as a whole: experiment props. */
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
];
