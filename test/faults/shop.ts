import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { openWorld, type World, type WorldOptions } from "../_setup/world.ts";

export const SHOP = "31600000001";
export const ANA = "4915100000001";
export const BEN = "4915100000002";

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-faults-"));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** A folder for `BOTS_DIR`: file name without extension → source. */
export function botsFolder(bots: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, source] of Object.entries(bots)) writeFileSync(join(folder, `${name}.mjs`), source);
  return folder;
}

/** A world with a linked number and two people who may write to it. */
export async function openShop(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options);
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

export const send = ({ gateway, key }: World, number: string, message: string) =>
  gateway.post("/send-message", { sender: SHOP, number, message }, { key });

/** Texts that arrived at a person, one per message id: phones show a repeated id once. */
export async function textsAt({ sim }: World, person: string): Promise<string[]> {
  const arrived = await sim.messages(person, { from: SHOP });
  return arrived.filter(({ ordinal }) => ordinal === 1).map(({ text }) => text ?? "");
}

/** Ids per text: more than one means that something was sent twice. */
export async function idsPerText({ sim }: World, person: string): Promise<Record<string, number>> {
  const ids = new Map<string, Set<string>>();
  for (const { text, id } of await sim.messages(person, { from: SHOP }))
    ids.set(text ?? "", (ids.get(text ?? "") ?? new Set()).add(id));
  return Object.fromEntries([...ids].map(([text, known]) => [text, known.size]));
}
