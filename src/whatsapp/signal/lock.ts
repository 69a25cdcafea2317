const tails = new Map<string, Promise<void>>();

/**
 * Runs `work` alone among everything in this process that names one of the same addresses, in the order of the calls.
 * Process-wide on purpose: libsignal queues its jobs by the bare address, and two accounts may talk to the same contact.
 *
 * @param addresses every address that the work touches; taken all at once, so that two calls cannot block each other
 */
export async function withLock<T>(addresses: string[], work: () => Promise<T>): Promise<T> {
  const before = addresses.map((address) => tails.get(address)).filter((tail) => tail !== undefined);
  let release!: () => void;
  const tail = new Promise<void>((resolve) => (release = resolve));
  for (const address of addresses) tails.set(address, tail);
  try {
    if (before.length > 0) await Promise.all(before);
    return await work();
  } finally {
    for (const address of addresses) if (tails.get(address) === tail) tails.delete(address);
    release();
  }
}
