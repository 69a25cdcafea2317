import { authorize } from "../../accounts/authorize.ts";
import { LINK_PERMISSIONS, type LinkedNumber, type LinkRecord, type Maker } from "../../accounts/links.ts";
import type { Caller } from "../../accounts/caller.ts";
import type { App } from "../services.ts";
import type { Asker } from "./authenticate.ts";
import { findDevice } from "./senders.ts";
import { iso, isoOrNull } from "../views/views.ts";

/** A link without its secret. */
export const linkView = (link: LinkRecord) => ({
  id: link.id,
  device: link.number,
  created_at: iso(link.createdAt),
  expires_at: iso(link.expiresAt),
  last_used_at: isoOrNull(link.lastUsedAt),
  made_by: { kind: link.madeBy, name: link.keyName },
});

/** Whoever asks, as the one by whom a link stands and falls. */
export const makerOf = ({
  caller,
  session,
  credential,
}: Pick<Asker, "session" | "credential"> & { caller: Caller | null }): Maker => ({
  kind: caller === null || session?.kind === "operator" ? "operator" : "key",
  credential: credential(),
});

/**
 * Makes a link. Its secret stands behind the `#`, which browsers send to nobody: no log of a server or a proxy has it.
 *
 * @returns the fields of the answer
 */
export async function makeLink(app: App, device: LinkedNumber, minutes: number, by: Maker) {
  const { link, token } = await app.links.make(device, minutes, by);
  const url = `${app.config.publicUrl}/console/link#${token}`;
  const data = { ...linkView(link), url };
  return { data, id: data.id, url, expires_at: data.expires_at };
}

/**
 * The same for a number of the caller's account. A key gives what it has itself: a link lets its owner link the number and set its webhook.
 *
 * @throws PERMISSION_DENIED without `qr` and `webhooks`; NOT_FOUND
 */
export async function makeMagicLink(
  call: Pick<Asker, "session" | "credential"> & { app: App; caller: Caller },
  number: string | undefined,
  minutes: number,
) {
  const device = findDevice(call.app, call.caller, number);
  for (const permission of LINK_PERMISSIONS) authorize(call.caller, permission);
  return makeLink(call.app, device, minutes, makerOf(call));
}
