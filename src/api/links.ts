import type { LinkedNumber, LinkRecord, Maker } from "../accounts/links.ts";
import type { Caller } from "../accounts/caller.ts";
import type { App } from "./services.ts";
import type { Asker } from "./authenticate.ts";
import { iso, isoOrNull } from "./views.ts";

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
  return {
    data: linkView(link),
    url: `${app.config.publicUrl}/console/link#${token}`,
    expires_at: iso(link.expiresAt),
  };
}
