import { isFree } from "../../src/process/free-port.ts";

/**
 * Below the ports that systems give to whoever does not name one (Linux from 32768, others from 49152): a gateway that is
 * started again must find its port as it left it, and not another test's server there.
 */
const FIRST = 20_000;
/** Of each worker of a run. Programs outside of one have the first share. */
const SHARE = 750;
const SHARES = 16;

const first = FIRST + (Number(process.env["VITEST_POOL_ID"] ?? 0) % SHARES) * SHARE;
let next = Math.floor(Math.random() * SHARE);

/** A port of this machine that nobody listens at, for a program that has to be told one. Soon nobody is told the same. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < SHARE; tried++) {
    const port = first + (next++ % SHARE);
    if (await isFree(port)) return port;
  }
  throw new Error(`All ports from ${first} to ${first + SHARE - 1} are taken.`);
}
