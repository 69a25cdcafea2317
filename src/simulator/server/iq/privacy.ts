import { children, element } from "../../wire/nodes.ts";
import type { World } from "../../world/world.ts";
import { MalformedIq } from "../iq-error.ts";
import type { PrivacyTokens } from "../privacy-tokens.ts";
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

interface Needs {
  world: World;
  privacyTokens: Pick<PrivacyTokens, "give">;
}

/** Who may see what, and tokens for trusted contacts (`privacy`). */
export const createPrivacyHandlers = ({ world, privacyTokens }: Needs): IqHandler[] => [
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
    /** Passes tokens on; the asker gets none back. */
    answer({ device, body }) {
      for (const token of children(body, "token")) {
        const { jid, t, type } = token.attrs;
        const receiver = world.find(jid);
        if (type !== "trusted_contact" || !Number(t) || !receiver) {
          throw new MalformedIq(`privacy token for ${jid}`);
        }
        if (receiver !== device.account) privacyTokens.give(device.account, receiver, Number(t));
      }
      return [];
    },
  },
];
