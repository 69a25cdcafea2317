import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to programs that name none (Linux from 32768, others from 49152): between our look and
 * the start of the program that gets the port, no other program's connection takes it.
 */
const FIRST = 10_000;
const COUNT = 10_000;
const TRIES = 100;

/** A port of loopback that is free now, for a program that has to be told one. @throws Error when none is found */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port of 127.0.0.1 from ${FIRST} to ${FIRST + COUNT - 1}.`);
}

/** Whether nobody listens at this port of loopback. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
