import { runtimeProgram } from "../../_setup/runtimes.ts";
import { startSimulatorProcess } from "../processes.ts";
import { chatTargets, groupTarget, longChatTarget, startBare, startMeasured, type Extent } from "./chats.ts";
import { diskTargets } from "./disk.ts";
import { idleTargets } from "./idle.ts";
import { manyTargets, type ManyOptions } from "./many.ts";
import { remember, shown, type Figure } from "./table.ts";

/** What can be measured alone. */
export const PARTS = ["chats", "group", "long-chat", "disk", "idle", "many"] as const;
export type Part = (typeof PARTS)[number];

/**
 * `npm run bench -- --targets`: every target beside what was measured, and a line for what has become much worse since the
 * last runs.
 *
 * @param parts which of them; `many` links a thousand numbers and takes half an hour
 */
export async function benchTargets(parts: readonly Part[], extent: Extent & ManyOptions): Promise<void> {
  const running = await startSimulatorProcess("targets");
  const figures: Figure[] = [];
  const note = (found: Figure[]): void => {
    for (const figure of found) console.log(shown(figure));
    figures.push(...found);
  };
  console.log(`${extent.rounds} rounds of ${extent.messages} after a warm-up, medians; ${process.version}`);
  if (["chats", "group", "long-chat"].some((part) => parts.includes(part as Part))) {
    const ours = await startMeasured(running, 1);
    const bare = await startBare(running);
    if (parts.includes("chats")) {
      const onBun = await startMeasured(running, 2, await runtimeProgram("bun"));
      note(await chatTargets(running, bare, ours, onBun, extent));
      onBun.gateway.child.kill("SIGTERM");
    }
    if (parts.includes("group")) note(await groupTarget(running, bare, ours, extent));
    if (parts.includes("long-chat")) note(await longChatTarget(running, ours, extent));
    for (const { child } of [ours.gateway, bare]) child.kill("SIGTERM");
  }
  if (parts.includes("disk")) note(await diskTargets(running, extent));
  if (parts.includes("idle")) note(await idleTargets(running));
  if (parts.includes("many")) note(await manyTargets(running, extent));
  for (const line of remember(figures)) console.log(line);
}
