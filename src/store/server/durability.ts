import type { Client } from "@libsql/client";
import type { Config } from "../../config.ts";
import type { Logger } from "../../log.ts";
import { StartError } from "../../model/errors/errors.ts";

/** SQLite's FULL, https://sqlite.org/pragma.html#pragma_synchronous: a commit is on the disk before it is answered. */
const FULL = 2;

/** In SQL: `PRAGMA synchronous` of the connection that this very transaction runs on. */
export const SYNCHRONOUS = "(SELECT synchronous FROM pragma_synchronous)";

/** In SQL: true when the commit of this very transaction will be on the disk before it is answered. */
export const IS_DURABLE = `${SYNCHRONOUS} >= ${FULL}`;

/** Public, so without an address. */
export const NOT_DURABLE =
  "the libSQL server may lose acknowledged commits (its durability_mode is not strong)";

/** sqld takes no part of this: a field that is left out is reset. It has to be asked again after each of its starts. */
const COMMAND = `curl -X POST http://ADMIN-ADDRESS/v1/namespaces/default/config -H 'content-type: application/json' -d '{"block_reads":false,"block_writes":false,"durability_mode":"strong","txn_timeout_s":5}'`;
const CURE = `Start sqld with --admin-listen-addr ADMIN-ADDRESS and run: ${COMMAND} (docs/libsql-server.md)`;

/** What is found out at each commit. */
export interface Durability {
  /** Last found: a commit would be on the disk before it is answered. */
  readonly strong: boolean;
  found(strong: boolean): void;
}

/** Says in the log when commits stop being durable, and when they are again. */
export function watchDurability(log: Logger): Durability {
  let strong = true;
  return {
    get strong() {
      return strong;
    },
    found(now) {
      if (now === strong) return;
      strong = now;
      if (now) log.info("the libSQL server is durable again; continuing");
      else log.error(`${NOT_DURABLE}: nothing is received or sent until its commits are durable. ${CURE}`);
    },
  };
}

/**
 * Asks the server, before anything is written to it, whether what it acknowledges survives a power cut.
 *
 * @param client of the server
 * @param name   how to name the database to the user
 * @returns whether every commit is to ask again
 * @throws {StartError} when it does not, or does not say, unless `ALLOW_WEAK_DURABILITY` is set: then it is warned about
 */
export async function requireDurable(
  client: Pick<Client, "execute">,
  { allowWeakDurability }: Pick<Config, "allowWeakDurability">,
  name: string,
  log: Logger,
): Promise<boolean> {
  const found = await readSynchronous(client);
  if (found !== null && found >= FULL) return true;
  const what =
    found === null
      ? "does not show whether its commits survive a power cut (SELECT synchronous FROM pragma_synchronous)"
      : `may lose acknowledged commits when its power fails (PRAGMA synchronous is ${found}, not ${FULL})`;
  if (!allowWeakDurability)
    throw new StartError(`${name} ${what}. ${CURE}; or accept it with ALLOW_WEAK_DURABILITY=1.`);
  log.warn(`${name} ${what}; ALLOW_WEAK_DURABILITY is set. ${CURE}`);
  return false;
}

/** Null when the server has no such thing: only a server that refuses the statement itself has answered. */
async function readSynchronous(client: Pick<Client, "execute">): Promise<number | null> {
  try {
    const { rows } = await client.execute(`SELECT ${SYNCHRONOUS} AS synchronous`);
    return rows[0]?.synchronous === undefined ? null : Number(rows[0].synchronous);
  } catch (error) {
    if (/no such table|parse|unsupported|not authorized/i.test((error as Error).message)) return null;
    throw error;
  }
}
