// Loaded before the gateway of the demo: when the demo is gone, even by SIGKILL, the pipe to it closes and the gateway ends.
// Plain JavaScript, because the gateway runs in a node that knows no TypeScript.
import { isMainThread } from "node:worker_threads";

// `nitro dev` runs the gateway in a thread, which loads this as well and has no pipe.
if (isMainThread) {
  process.stdin.resume();
  process.stdin.once("close", () => process.kill(process.pid, "SIGTERM"));
  process.stdin.unref?.();
}
