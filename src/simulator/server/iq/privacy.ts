import { children, element } from "../../wire/nodes.ts";
import type { World } from "../../world/world.ts";
import { MalformedIq } from "../iq-error.ts";
import type { IqHandler } from "./handler.ts";

const SETTINGS = {
  readreceipts: "all",
  profile: "all",
  status: "all",
  online: "all",
  last: "all",
  groupadd: "all",
  calladd: "all",
  messages: "all",
};

/** Who may see what, and tokens for trusted contacts (`privacy`). */
export const createPrivacyHandlers = ({ world }: { world: World }): IqHandler[] => [
  {
    xmlns: "privacy",
    type: "get",
    child: "privacy",
    answer: () => [
      element(
        "privacy",
        {},
        Object.entries(SETTINGS).map(([name, value]) => element("category", { name, value })),
      ),
    ],
  },
  { xmlns: "privacy", type: "set", child: "privacy", answer: ({ body }) => [body] },
  {
    xmlns: "privacy",
    type: "set",
    child: "tokens",
    /** Accepts tokens; the asker gets none back. */
    answer({ body }) {
      for (const token of children(body, "token")) {
        const { jid, t, type } = token.attrs;
        if (type !== "trusted_contact" || !t || !world.find(jid)) {
          throw new MalformedIq(`privacy token for ${jid}`);
        }
      }
      return [];
    },
  },
];
