import type { PrivacyName } from "../../surface/profiles.ts";
import { children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import type { Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import { type AccountChanges, blockHash } from "../accounts/account-changes.ts";
import { MalformedIq } from "../iq-error.ts";
import type { PrivacyTokens } from "../messages/privacy-tokens.ts";
import type { IqHandler } from "./handler.ts";

interface Needs {
  world: World;
  profiles: Profiles;
  accountChanges: AccountChanges;
  privacyTokens: Pick<PrivacyTokens, "give">;
}

/** Who may see what, who may not write, and tokens for trusted contacts (`privacy`, `blocklist`). */
export const createPrivacyHandlers = ({
  world,
  profiles,
  accountChanges,
  privacyTokens,
}: Needs): IqHandler[] => [
  {
    xmlns: "privacy",
    type: "get",
    child: "privacy",
    answer: ({ device }) => [
      element(
        "privacy",
        {},
        [...profiles.of(device.account.number).privacy].map(([name, value]) =>
          element("category", { name, value }),
        ),
      ),
    ],
  },
  {
    xmlns: "privacy",
    type: "set",
    child: "privacy",
    answer({ device, body }) {
      for (const { attrs } of children(body, "category")) {
        const { name, value } = attrs;
        if (!value || !profiles.of(device.account.number).privacy.has(name as PrivacyName))
          throw new MalformedIq(`privacy category ${name}`);
        accountChanges.privacy(device.account, name as PrivacyName, value, device);
      }
      return [body];
    },
  },
  {
    xmlns: "blocklist",
    type: "get",
    answer: ({ device }) => [blocklist(world, profiles, device.account)],
  },
  {
    xmlns: "blocklist",
    type: "set",
    child: "item",
    /** Blocking names both addresses. Source: whatsapp-rust `iq/blocklist.rs`. */
    answer({ device, body }) {
      const { jid, action, pn_jid: number } = body.attrs;
      const other = world.find(jid);
      const isComplete = action === "unblock" || (action === "block" && world.find(number) === other);
      if (!other || !isComplete) throw new MalformedIq(`blocklist ${action} of ${jid} (${number})`);
      accountChanges.block(device.account, other, action as "block" | "unblock", device);
      return [blocklist(world, profiles, device.account)];
    },
  },
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

function blocklist(world: World, profiles: Profiles, account: Account): BinaryNode {
  const { blocked } = profiles.of(account.number);
  const items = [...blocked].map((number) => element("item", { jid: userJid(world.account(number), "lid") }));
  return element("list", { dhash: blockHash(blocked) }, items);
}
