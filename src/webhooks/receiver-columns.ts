import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { SecretBox, Statement } from "../store/store.ts";
import type { Receiver } from "./receiver.ts";

/** What rows of webhooks and of listeners have in common. */

/** As the column keeps it: a flag as 0 or 1, a list as JSON. */
export function encoded(column: SQLiteColumn, value: unknown): Statement["args"][number] {
  return (value === null ? null : column.mapToDriverValue(value)) as Statement["args"][number];
}

type Secrets = Pick<Receiver, "secret" | "oldSecrets">;

export const sealedSecrets = (
  box: Pick<SecretBox, "seal">,
  { secret, oldSecrets }: Secrets,
  context: string,
): { secret: Buffer; oldSecret: Buffer | null } => ({
  secret: box.seal(secret, context),
  oldSecret: oldSecrets.length === 0 ? null : box.seal(oldSecrets.join(" "), context),
});

/** @throws when they do not open */
export function openedSecrets(
  box: Pick<SecretBox, "open">,
  { secret, oldSecret }: { secret: Buffer; oldSecret: Buffer | null },
  context: string,
): Secrets {
  const open = (sealed: Buffer): string => box.open(sealed, context).toString("utf8");
  return { secret: open(secret), oldSecrets: oldSecret === null ? [] : open(oldSecret).split(" ") };
}
