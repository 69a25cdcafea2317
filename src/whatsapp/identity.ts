import type { AuthenticationCreds } from "@whiskeysockets/baileys";
import type { OwnIds } from "./addresses.ts";
import { toPn, userOf, withoutDevice } from "./jids.ts";
import type { LinkedIdentity } from "./port.ts";

/** Baileys' stand-in for a name while a pairing code is pending. */
const NO_NAME = "~";

/** Who these credentials belong to, or null when no phone has accepted them. */
export function identityOf({ account, me, platform }: AuthenticationCreds): LinkedIdentity | null {
  if (!account || !me) return null;
  return {
    number: userOf(me.id),
    lid: withoutDevice(me.lid) || null,
    name: me.name && me.name !== NO_NAME ? me.name : (me.verifiedName ?? null),
    platform: platform ?? null,
  };
}

/** The ids that the number itself goes by. */
export function ownIdsOf({ me }: Pick<AuthenticationCreds, "me">): OwnIds {
  return { pn: toPn(userOf(me?.id)), lid: withoutDevice(me?.lid) || null };
}
