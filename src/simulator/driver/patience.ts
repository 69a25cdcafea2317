/** How long what waits for something waits by default. As long as that because what a machine with much else to do takes is no error. */
export const DEFAULT_WAIT_MS = 30_000;
