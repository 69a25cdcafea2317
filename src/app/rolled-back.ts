import { expireWaiting, skipUsedIds } from "../backup/rollback.ts";
import { createEpoch, type Epoch } from "../store/epoch.ts";
import { forgetRatchets } from "../whatsapp/signal/rollback.ts";
import type { Base } from "./data.ts";

/**
 * What a restore does to a backup is done to a database that turns out to be of an earlier time, before anything of it is read or used:
 * ratchets are forgotten, ids skipped, and what waits for long expires. The operator is told. From then on the epoch moves.
 */
export async function openEpoch({
  store,
  config,
  log,
}: Pick<Base, "store" | "config" | "log">): Promise<Epoch> {
  const epoch = createEpoch(store, config.dataDir);
  if (await epoch.isBehind()) await makeUp(store, epoch, log);
  await epoch.start();
  return epoch;
}

async function makeUp(store: Base["store"], epoch: Epoch, log: Base["log"]): Promise<void> {
  const { statements, linked } = await forgetRatchets(store);
  await store.writer.commit(
    [...statements, ...(await skipUsedIds(store)), ...expireWaiting(store.now()), ...epoch.catchUp()],
    { owning: null },
  );
  log.error(
    { numbers: linked },
    "the database is older than this gateway's last run: it was rolled back or replaced by a copy. The gateway has dropped Signal sessions and everything that must not be used twice; messages from the time between may be missing",
  );
}
