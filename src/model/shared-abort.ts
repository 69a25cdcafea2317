import { setMaxListeners } from "node:events";

/** An abort that any number of waits may listen to at once; Node warns of a leak from the eleventh on. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
