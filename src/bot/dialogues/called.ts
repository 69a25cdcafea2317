import type { Bot, Dialogue } from "../types.ts";

/** A bot's dialogue by its id, or by one that it had before. */
export function dialogueCalled({ dialogues }: Pick<Bot, "dialogues">, id: string): Dialogue<never> | null {
  return dialogues.get(id) ?? [...dialogues.values()].find(({ was }) => was?.includes(id)) ?? null;
}
