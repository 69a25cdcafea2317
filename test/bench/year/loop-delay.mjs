// Preloaded into the gateway under test: tells the bench, over IPC, for how long the event loop stood still at most since
// it was last asked. A poll from outside would measure the bench's own process as well.
import { openSync, readSync } from "node:fs";

const EVERY_MS = 2;
const buffer = Buffer.alloc(128);
const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");

/** What the main thread has computed so far: unlike the clock on the wall, it does not count what other processes do. */
function computedMs() {
  const read = readSync(schedule, buffer, 0, buffer.length, 0);
  return Number(buffer.toString("latin1", 0, read).split(" ")[0]) / 1e6;
}

let last = { wall: performance.now(), computed: computedMs() };
let longest = { stallMs: 0, computingMs: 0 };

function look() {
  const now = { wall: performance.now(), computed: computedMs() };
  longest.stallMs = Math.max(longest.stallMs, now.wall - last.wall - EVERY_MS);
  longest.computingMs = Math.max(longest.computingMs, now.computed - last.computed);
  last = now;
}
setInterval(look, EVERY_MS).unref();

process.on("message", (message) => {
  if (message !== "longest stall") return;
  look();
  process.send(longest);
  longest = { stallMs: 0, computingMs: 0 };
});
// A bench that was cut off leaves nothing behind.
process.on("disconnect", () => process.exit(1));
// Listening to the bench must not keep the process alive.
process.channel?.unref();
