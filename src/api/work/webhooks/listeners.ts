import type { z } from "zod";
import { camelKeys } from "../../../model/view.ts";
import type { listenerChange, newListener } from "../../../webhooks/listeners/settings.ts";
import { findDevice } from "../../access/senders.ts";
import type { CallOf } from "../../call.ts";
import { list as listed } from "../../answers/envelope.ts";
import { notFound } from "../../answers/unmatched.ts";
import type {
  changeListener,
  createListener,
  deleteListener,
  listListeners,
  rotateListener,
} from "../../endpoints/listeners.ts";
import type { App } from "../../services.ts";
import { requireKnownBots } from "../bots.ts";
import { listenerView } from "../../views/views.ts";

/** The listeners of a number, oldest first. @throws NOT_FOUND */
export async function list({ app, caller, params }: CallOf<typeof listListeners>) {
  const { id } = findDevice(app, caller, params["number"]);
  return listed((await app.webhooks.listeners.list(id)).map(listenerView));
}

/** @throws NOT_FOUND, URL_NOT_ALLOWED, PLAN_LIMIT; INVALID_PARAMETERS for a bot that nobody has */
export async function create({ app, caller, input, params }: CallOf<typeof createListener>) {
  const { id } = findDevice(app, caller, params["number"]);
  requireBots(app, input.bots);
  const { chats = null, bots = null, events = input.events, ...rest } = requested(input);
  const settings = { ...rest, chats, bots, events };
  const { listener, secret } = await app.webhooks.listeners.create(id, settings);
  return { data: listenerView(listener), secret };
}

/** @throws NOT_FOUND, URL_NOT_ALLOWED; INVALID_PARAMETERS for a bot that nobody has */
export async function change({ app, caller, input, params }: CallOf<typeof changeListener>) {
  const { id } = findDevice(app, caller, params["number"]);
  requireBots(app, input.bots);
  const changed = await app.webhooks.listeners.change(id, params["id"]!, requested(input));
  return { data: listenerView(found(changed)) };
}

/** @throws NOT_FOUND */
export async function remove({ app, caller, params }: CallOf<typeof deleteListener>) {
  const { id } = findDevice(app, caller, params["number"]);
  if (!(await app.webhooks.listeners.remove(id, params["id"]!))) throw notFound();
  return {};
}

/** @throws NOT_FOUND */
export async function rotate({ app, caller, params }: CallOf<typeof rotateListener>) {
  const { id } = findDevice(app, caller, params["number"]);
  const { listener, secret } = found(await app.webhooks.listeners.rotate(id, params["id"]!));
  return { data: listenerView(listener), secret };
}

function found<T>(value: T | null): T {
  if (value === null) throw notFound();
  return value;
}

type Given = z.output<typeof listenerChange> | z.output<typeof newListener>;

/** By the program's names, without what was left out; an empty filter is none. */
function requested<T extends Given>(input: T) {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const { chats, bots, events, ...rest } = Object.fromEntries(given) as T;
  return {
    ...camelKeys(rest),
    ...(events !== undefined && { events: [...new Set(events)] }),
    ...(chats !== undefined && { chats: chats && chats.length > 0 ? [...new Set(chats)] : null }),
    ...(bots !== undefined && { bots: bots && bots.length > 0 ? bots : null }),
  };
}

/** A name that is misspelt would listen to nobody. */
const requireBots = (app: App, ids: readonly string[] | null | undefined): void =>
  requireKnownBots(app, [...(ids ?? [])], (index) => `bots.${index}`);
