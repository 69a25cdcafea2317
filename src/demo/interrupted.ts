/** Whoever started it has ended it. */
export class Interrupted extends Error {}

/** Rejects on Ctrl-C, SIGTERM, a closed terminal, or when nobody reads the output any more. A second signal ends at once. */
export function untilInterrupted(output: NodeJS.WriteStream): { promise: Promise<never>; interrupt(): void } {
  let interrupt!: () => void;
  const promise = new Promise<never>((_, reject) => {
    interrupt = () => reject(new Interrupted());
  });
  promise.catch(() => {});
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => {
      interrupt();
      process.once(signal, () => process.exit(130));
    });
  output.once("error", interrupt);
  return { promise, interrupt };
}
