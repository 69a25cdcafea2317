import { randomFillSync } from "node:crypto";

// One call of the system for many messages: a single random byte costs as much as all of these.
const pool = Buffer.alloc(1024);
let next = pool.length;

/** Content as it is encrypted: behind it 1 to 16 bytes that each say how many they are. */
export function pad(content: Uint8Array): Buffer {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const length = (pool[next++]! & 15) + 1;
  const padded = Buffer.allocUnsafe(content.length + length);
  padded.set(content);
  return padded.fill(length, content.length);
}
