/**
 * Lets the event loop go round once: timers, sockets and other people's requests have their turn. For loops over many
 * rows, because reading a row of a file is synchronous, and an `await` of it alone lets nobody else in.
 */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
