import { createBotAnswerers } from "../bot/answerers/answerers.ts";
import { createBindings } from "../bot/bindings/bindings.ts";
import { createRunningBots } from "../bot/handlers/running.ts";
import { type BotState } from "../bot/sessions/state.ts";
import type { MarkRead, ShowTyping } from "../bot/handlers/typing.ts";
import { createCallAnswerer } from "../calls/calls.ts";
import { createLookUp } from "../conversations/lookup.ts";
import { createPast } from "../conversations/past.ts";
import { contentOpener, createInboxReader } from "../inbox/reader.ts";
import type { Logger } from "../log.ts";
import { handedOn } from "../model/content/handed-on.ts";
import { draftOpener, namedId, replyId } from "../outbox/rows.ts";
import { createSentReader } from "../outbox/sent-reader.ts";
import { type LoopGuard } from "../pipeline/loop-guard.ts";
import type { Store } from "../store/store.ts";
import { createWebhooks, type Webhooks } from "../webhooks/index.ts";
import type { NumberWebhook } from "../webhooks/parts.ts";
import type { Connections } from "./connections.ts";
import type { MessagePathDeps } from "./deps.ts";
import { createQuotes } from "./queues.ts";

/** Who answers, in the order in which they are asked. */
export function createAnswerers(
  deps: MessagePathDeps,
  loopGuard: LoopGuard,
  state: BotState,
  opened: (deviceId: number) => NumberWebhook | null,
) {
  const { store, config, log, connections, stopping, files } = deps;
  const bindings = createBindings(
    store,
    deps.bots.registry,
    (problem) => log.warn(problem),
    {
      of: (id) => bots.blocking.of(id),
      checkUrl: deps.http.check,
    },
    deps.news,
  );
  const bots = createBotAnswerers({
    bindings,
    state,
    media: files.outgoing,
    messages: namedMessages(deps),
    files: files.received,
    http: deps.bots.http ?? deps.http,
    locales: deps.bots.locales,
    typing: showTyping(connections, log),
    markRead: showRead(connections, log),
    history: pastOf(store),
    config,
    hmac: (text) => store.box.hmac("bot-step", text).toString("base64url"),
    messageIds: {
      reply: (...reply) => replyId(store.box, ...reply),
      named: (...message) => namedId(store.box, ...message),
    },
    log,
    time: deps.bots.time ?? store.time,
    stopping,
    running: deps.bots.running ?? createRunningBots(),
    checksFlows: deps.bots.checksFlows ?? false,
    ...(deps.bots.onlooker && { onlooker: deps.bots.onlooker }),
  });
  const webhooks = joinWebhooks(deps, loopGuard, opened);
  const inOrder = [
    bots.observers,
    bots.interrupts,
    webhooks.holder,
    bots.conversations,
    bots.routes,
    createCallAnswerer({ store, textOf: connections.callsText }),
    ...(deps.besides ?? []),
    webhooks.answerer,
    webhooks.listener,
  ];
  return { bindings, webhooks, inOrder, blocking: bots.blocking };
}

function joinWebhooks(
  deps: MessagePathDeps,
  loopGuard: LoopGuard,
  opened: (deviceId: number) => NumberWebhook | null,
): Webhooks {
  const { store, config, log, connections, observers, files } = deps;
  return createWebhooks({
    store,
    news: deps.news,
    config,
    log,
    http: deps.http,
    files: files.received,
    media: files.outgoing,
    connection: connections.connection,
    accountOf: connections.accountOf,
    opened,
    loopGuard,
    ...(deps.cluster && { cluster: deps.cluster }),
    observe: observers.tell,
    ...(deps.random !== undefined && { random: deps.random }),
  });
}

/** Messages that bots quote and hand on. */
function namedMessages({ store, connections }: MessagePathDeps) {
  const { sentContent } = createSentReader(store);
  const opened = { openIncoming: contentOpener(store.box), openDraft: draftOpener(store.box) };
  const lookUp = createLookUp(store, opened);
  return {
    findQuote: createQuotes({ store, connections }, createInboxReader(store)),
    async handedOn(deviceId: number, id: string) {
      const [found] = await lookUp([{ id: deviceId, number: "" }], id);
      return found === undefined || found.revoked
        ? null
        : handedOn(found.content, await sentContent(deviceId, id));
    },
  };
}

const pastOf = (store: Store): ReturnType<typeof createPast> =>
  createPast(store, { openIncoming: contentOpener(store.box), openDraft: draftOpener(store.box) });

/** A courtesy: whatever goes wrong with it does not matter to the message. */
const showTyping =
  ({ connection }: Pick<Connections, "connection">, log: Logger): ShowTyping =>
  (deviceId, chat, on) => {
    const shown = async (): Promise<void> => connection(deviceId)?.showState(chat, on ? "typing" : "paused");
    shown().catch((err: unknown) => log.debug({ err, device: deviceId }, "could not show typing"));
  };

const showRead =
  ({ connection }: Pick<Connections, "connection">, log: Logger): MarkRead =>
  (deviceId, message) => {
    const shown = async (): Promise<void> => connection(deviceId)?.markRead([message]);
    shown().catch((err: unknown) => log.debug({ err, device: deviceId }, "could not mark a message as read"));
  };
