import { validate } from "../standard-schema.ts";
import type { StoredSession } from "./state.ts";
import type { Bot } from "../types.ts";

/** A session that its schema refuses: the handler has failed. */
export class SessionRefused extends Error {
  constructor(what: string) {
    super(`The session ${what}`);
    this.name = "SessionRefused";
  }
}

/** What a handler is given of what was kept of a chat. */
export interface FittedSession {
  value: unknown;
  /**
   * `new`: nothing was kept. `kept`: it fits as it is. `completed`: with `initial()` beneath it. `migrated`: by the author's
   * `migrate`. `begun_anew`: nothing of this makes it fit, and `initial()` takes its place.
   */
  how: "new" | "kept" | "completed" | "migrated" | "begun_anew";
  /** Of `begun_anew`: what does not fit, paths or a sentence, nothing that a person has written; else empty. */
  misfits: readonly string[];
}

type Rules = NonNullable<Bot["session"]>;
type Read = { value: unknown } | { problems: string[]; places: string[] };

/**
 * Makes of a stored session one that today's code may rely on.
 *
 * It fits when its version is today's and the schema accepts it; without a schema, when no key of `initial()` is missing. What
 * is stored stays as it is until a handler changes the session.
 *
 * @throws {SessionRefused} when `migrate` gives what the schema refuses; whatever `initial` and `migrate` throw
 */
export async function fitSession(rules: Rules, stored: StoredSession | null): Promise<FittedSession> {
  // A copy: an `initial` that always gives the same object must not carry one chat's session into another.
  const initial = structuredClone(rules.initial());
  if (stored === null || stored.value === null) return { value: initial, how: "new", misfits: [] };
  const { value, version } = stored;
  if (version !== rules.version) return migrate(rules, stored, initial);
  const read = await accept(rules, value);
  if ("value" in read && (rules.schema !== null || !lacksKeys(value, initial)))
    return { value: read.value, how: "kept", misfits: [] };
  const completed = await accept(
    rules,
    rules.schema === null ? added(initial, value) : beneath(initial, value),
  );
  if ("value" in completed) return { value: completed.value, how: "completed", misfits: [] };
  if (rules.migrate !== null) return migrate(rules, stored, initial);
  return { value: initial, how: "begun_anew", misfits: completed.places };
}

const accept = async ({ schema }: Rules, value: unknown): Promise<Read> =>
  schema === null ? { value } : validate(schema, value);

async function migrate(
  rules: Rules,
  { value, version }: StoredSession,
  initial: unknown,
): Promise<FittedSession> {
  if (rules.migrate === null) {
    const misfits = [`it is of version ${version}, and there is no \`migrate\``];
    return { value: initial, how: "begun_anew", misfits };
  }
  const made = rules.migrate(value, version);
  const first = await accept(rules, made);
  const read = "value" in first ? first : await accept(rules, beneath(initial, made));
  if ("value" in read) return { value: read.value, how: "migrated", misfits: [] };
  // Nothing is lost: what is stored stays, and the decision names the file.
  throw new SessionRefused(`that \`migrate\` made does not fit its schema: ${read.places.join(", ")}`);
}

type Plain = Record<string, unknown>;
const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const lacksKeys = (value: unknown, initial: unknown): boolean =>
  isPlain(value) && isPlain(initial) && Object.keys(initial).some((key) => !Object.hasOwn(value, key));

/** No schema says which keys within a key are its own and which are data: only the outermost are added. */
const added = (initial: unknown, value: unknown): unknown => ({ ...(initial as Plain), ...(value as Plain) });

/** What is missing in the value, at any depth, is as `initial()` has it. */
function beneath(initial: unknown, value: unknown): unknown {
  if (!isPlain(initial) || !isPlain(value)) return value;
  const inner = Object.entries(value).map(([key, own]) => [
    key,
    Object.hasOwn(initial, key) ? beneath(initial[key], own) : own,
  ]);
  return { ...initial, ...(Object.fromEntries(inner) as Plain) };
}
