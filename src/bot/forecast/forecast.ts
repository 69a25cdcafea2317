import { giveWay } from "../../model/give-way.ts";
import { keepAlive, systemTime } from "../../model/time.ts";
import type { SecretBox } from "../../store/store.ts";
import { readConfig } from "../bindings/binding-input.ts";
import { openConfig } from "../bindings/binding-rows.ts";
import { dialogueCalled } from "../dialogues/called.ts";
import type { Locales } from "../files/locales.ts";
import { placeIn } from "../place.ts";
import type { BotRegistry } from "../files/registry.ts";
import { dialogueContext, sessionContext, timerContext } from "../sessions/sealed-for.ts";
import { fitSession } from "../sessions/sessions.ts";
import type { RouteTable } from "../routes/table.ts";
import { FLOW_TIMERS, OWN_TIMERS, type TimerBody } from "../timers/timer-rows.ts";
import type { Bot, Foreseen } from "../types.ts";
import { dryContext, type Whose } from "./dry-context.ts";
import type { BindingRow, DialogueRow, SessionRow, StoredRows, TimerRow } from "./rows.ts";
import { count, createTally, type Tally } from "./tally.ts";
import type { BotForecast, ConversationForecast, DialogueForecast, Forecast } from "./types.ts";

/** What is looked at, and the code that it is looked at with. */
export interface ForecastDeps {
  rows: StoredRows;
  box: Pick<SecretBox, "openJson" | "open">;
  /** The code that is to run. */
  registry: BotRegistry;
  locales: Locales;
  /** Which of those bots a number has, with their settings there. */
  tableOf(deviceId: number): RouteTable;
  now(): number;
  /** Told of each open conversation. */
  onEach?(conversation: ConversationForecast): void;
}

/** Code that waits for something outside of a step would keep everybody behind it waiting. */
const CODE_MAY_TAKE_MS = 2_000;

/**
 * Says what becomes of everything that is stored when this code runs: nothing is done, said or changed. It reads row by row
 * and keeps only counts, however much is stored.
 */
export async function forecast(deps: ForecastDeps): Promise<Forecast> {
  const { rows } = deps;
  const tally = createTally();
  for await (const row of rows.bindings()) await readable(tally, () => lookAtBinding(deps, tally, row));
  for await (const row of rows.dialogues()) await readable(tally, () => lookAtDialogue(deps, tally, row));
  for await (const row of rows.timers()) await readable(tally, () => lookAtTimer(deps, tally, row));
  for await (const row of rows.sessions()) await readable(tally, () => lookAtSession(deps, tally, row));
  return tally.result();
}

/** A row that does not open is counted, and takes no other down. */
class Unreadable extends Error {}

async function readable(tally: Tally, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    tally.unreadable();
  }
}

function opened<T>({ box }: ForecastDeps, sealed: Buffer, context: string): T {
  try {
    return box.openJson<T>(sealed, context);
  } catch {
    throw new Unreadable();
  }
}

/** The bot that has what is stored under an id, and where it is counted. */
function ownerOf({ registry }: ForecastDeps, tally: Tally, storedId: string): [Bot | null, BotForecast] {
  const id = registry.renamed.get(storedId) ?? storedId;
  const bot = registry.bots.find((known) => known.id === id) ?? null;
  const state = registry.has(id) ? "broken" : "gone";
  return [bot, tally.bot(id, bot === null ? state : "loaded")];
}

async function lookAtBinding(deps: ForecastDeps, tally: Tally, row: BindingRow): Promise<void> {
  const { deviceId, botId, enabled } = row;
  // A bot that is off there is missed by nobody.
  if (!enabled) return;
  const [bot, found] = ownerOf(deps, tally, botId);
  found.bindings.all += 1;
  if (bot === null) return;
  let config: Record<string, unknown> | null;
  try {
    config = openConfig(deps.box, deviceId, botId, row.config);
  } catch {
    throw new Unreadable();
  }
  const read = await readConfig(bot, config ?? {});
  if ("problems" in read) found.bindings.misfits += 1;
}

async function lookAtDialogue(deps: ForecastDeps, tally: Tally, row: DialogueRow): Promise<void> {
  const { deviceId, scope, botId, expiresAt, locale } = row;
  if (expiresAt !== null && expiresAt <= deps.now()) return;
  const state = opened<Record<string, unknown>>(deps, row.state, dialogueContext(deviceId, scope));
  const timer =
    row.timer === null
      ? null
      : opened<TimerBody>(deps, row.timer, timerContext(deviceId, botId, scope, EXPIRES));
  await lookAtState(deps, tally, { deviceId, botId, dialogue: row.dialogue, state, scope, timer, locale });
}

const EXPIRES = "dialogue:expire";

async function lookAtTimer(deps: ForecastDeps, tally: Tally, row: TimerRow): Promise<void> {
  const { deviceId, botId, scope, key } = row;
  // They are their dialogue's, which is looked at by itself.
  if (key.startsWith(OWN_TIMERS)) return;
  if (key.startsWith(FLOW_TIMERS)) {
    const timer = opened<TimerBody>(deps, row.body, timerContext(deviceId, botId, scope, key));
    const { state } = timer.data as { state: Record<string, unknown> };
    const dialogue = key.slice(FLOW_TIMERS.length).split(":")[0]!;
    return lookAtState(deps, tally, { deviceId, botId, dialogue, state, scope, timer, locale: null });
  }
  const [bot, { timers }] = ownerOf(deps, tally, botId);
  timers.all += 1;
  if (bot !== null && !bot.routes.some((route) => route.kind === "timer" && route.word === key))
    count(timers.gone, key);
}

async function lookAtSession(deps: ForecastDeps, tally: Tally, row: SessionRow): Promise<void> {
  const { deviceId, botId, scope, version, value, expiresAt } = row;
  // Of some chats the language alone is kept.
  if (value === null || (expiresAt !== null && expiresAt <= deps.now())) return;
  const stored = opened<unknown>(deps, value, sessionContext(deviceId, botId, scope));
  const [bot, { sessions }] = ownerOf(deps, tally, botId);
  sessions.all += 1;
  if (bot === null || bot.session === null) return;
  try {
    const { how, misfits } = await fitSession(bot.session, { version, value: stored, locale: null });
    if (how === "completed" || how === "migrated") sessions[how] += 1;
    if (how === "begun_anew") count(sessions.misfits, misfits.join(", "));
  } catch (error) {
    count(sessions.fails, nameOf(error, bot));
  }
}

interface StoredConversation extends Whose {
  deviceId: number;
  botId: string;
  dialogue: string;
  state: Record<string, unknown>;
}

async function lookAtState(deps: ForecastDeps, tally: Tally, stored: StoredConversation): Promise<void> {
  const [bot, of] = ownerOf(deps, tally, stored.botId);
  const dialogue = bot === null ? null : dialogueCalled(bot, stored.dialogue);
  const found = tally.dialogue(of, dialogue?.id ?? stored.dialogue, dialogue?.kind ?? null);
  found.open += 1;
  const active = bot === null ? null : deps.tableOf(stored.deviceId).bot(bot.id);
  let foreseen: Foreseen | { kind: "paused" };
  if (bot === null) foreseen = of.state === "broken" ? { kind: "paused" } : { kind: "ends" };
  else if (active === null) foreseen = { kind: "paused" };
  else if (dialogue === null) foreseen = { kind: "ends" };
  else {
    const ctx = dryContext(bot, active.config, stored, deps);
    foreseen = await inTime(async () => (await dialogue.foresee?.(ctx, stored.state)) ?? { kind: "goes_on" });
    // It is an author's code, as often as there are rows.
    await giveWay();
  }
  record(found, foreseen, bot);
  deps.onEach?.({
    device: stored.deviceId,
    scope: stored.scope,
    bot: of.bot,
    dialogue: found.dialogue,
    outcome: foreseen.kind,
    key: "key" in foreseen ? foreseen.key : null,
  });
}

const late = (): Error => new Error("The code waits for something outside a step.");

/** Code that throws, or waits without end, is an outcome like others. */
async function inTime(look: () => Promise<Foreseen>): Promise<Foreseen> {
  try {
    return await keepAlive(systemTime.deadline(CODE_MAY_TAKE_MS, look(), late));
  } catch (error) {
    return { kind: "fails", error };
  }
}

function record(found: DialogueForecast, foreseen: Foreseen | { kind: "paused" }, bot: Bot | null): void {
  if ("gone" in foreseen) for (const key of foreseen.gone ?? []) count(found.gone_choices, key);
  switch (foreseen.kind) {
    case "asked_again":
    case "asked_new":
    case "does":
    case "waits":
    case "migrates":
      return count(found[foreseen.kind], baseOf(foreseen.key));
    case "fails":
      return count(found.fails, nameOf(foreseen.error, bot));
    default:
      found[foreseen.kind] += 1;
  }
}

/** `checkout/item-7/size#2` is "size": ids in keys are as many as there are things. */
const baseOf = (key: string): string => key.slice(key.lastIndexOf("/") + 1).replace(/#\d+$/, "");

/** Its kind and its place: its message may quote what a person has written. */
function nameOf(error: unknown, bot: Bot | null): string {
  const name = error instanceof Error ? error.name : "Error";
  const place = placeIn(error instanceof Error ? error.stack : undefined, bot?.file ?? null);
  return place === null ? name : `${name} at ${place}`;
}
