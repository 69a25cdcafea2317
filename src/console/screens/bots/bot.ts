/** A bot at a number, as `GET /devices/{number}/bots` shows it. */
export interface Bot {
  id: string;
  priority: number;
  enable: string;
  routes: { kind: string; pattern: string }[];
  warnings: string[];
  needs?: string[];
  schema: Record<string, unknown> | null;
  error?: string;
  kept?: boolean;
  blocked?: { times: number; longest_ms: number; route: string; at: string; left_out_until: string | null };
  enabled: boolean;
  config: Record<string, unknown> | null;
}

/** Answer of `GET /devices/{number}/bots/routes`. */
export interface RouteTable {
  routes: { bot: string; priority: number; chats: string[]; kind: string; pattern: string }[];
  conflicts: {
    kind: string;
    winner: { bot: string; route: string };
    loser: { bot: string; route: string } | null;
    text: string;
  }[];
}

const HIGHEST = 100;

/** In the order of asking: as the gateway has it, among equals by id. */
export const inOrder = (bots: readonly Bot[]): Bot[] =>
  bots.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));

/**
 * Priorities under which bots are asked in this order, spread so that one can be put between two by hand.
 *
 * @returns only those that change
 */
export function prioritiesFor(bots: readonly Bot[]): { id: string; priority: number }[] {
  const step = HIGHEST / (bots.length + 1);
  const rises = bots.every((bot, index) => index === 0 || isBefore(bots[index - 1]!, bot));
  if (rises) return [];
  return bots
    .map(({ id, priority }, index) => ({ id, priority: Math.round((index + 1) * step), was: priority }))
    .flatMap(({ id, priority, was }) => (priority === was ? [] : [{ id, priority }]));
}

const isBefore = (one: Bot, other: Bot): boolean =>
  one.priority < other.priority || (one.priority === other.priority && one.id < other.id);
