import { createInbox, type Inbox } from "../inbox/inbox.ts";
import { createPolls } from "../inbox/polls.ts";
import { createOutbox } from "../outbox/outbox.ts";
import { createSentReader } from "../outbox/sent-reader.ts";
import type { StateListener } from "../outbox/state-news.ts";
import type { NumberOutbox } from "../outbox/sending/number-outbox.ts";
import type { FindQuote } from "../outbox/submitting/submitting.ts";
import type { MessagePathDeps } from "./deps.ts";

/** Where messages wait until they are decided, and where what is to be sent waits until it has left. */
export function createQueues(
  deps: MessagePathDeps,
  listener: StateListener,
  opened: (deviceId: number) => NumberOutbox | null,
) {
  const { store, config, log, connections, directory, observers } = deps;
  const inbox = createInbox(store, observers.tell, config.importHistory);
  const outbox = createOutbox({
    store,
    ...(deps.cluster !== undefined && { cluster: deps.cluster }),
    config,
    log,
    connections,
    opened,
    canonicalChat: directory.canonicalChat,
    refusal: directory.refusal,
    findQuote: createQuotes(deps, inbox),
    listener,
    observe: observers.tell,
    ...(deps.collectMs !== undefined && { collectMs: deps.collectMs }),
  });
  return { inbox, outbox, polls: createPolls(store, inbox.changesOf) };
}

/** A message of a chat may be quoted whoever wrote it: it came in, or was sent from here. */
export function createQuotes(
  { store, connections }: Pick<MessagePathDeps, "store" | "connections">,
  inbox: Pick<Inbox, "findQuote">,
): FindQuote {
  const { quotable } = createSentReader(store);
  return async (deviceId, chat, waId) => {
    const cameIn = await inbox.findQuote(deviceId, chat, waId);
    if (cameIn !== null) return cameIn;
    const sent = await quotable(deviceId, chat, waId);
    const number = connections.number(deviceId);
    return sent && number !== null
      ? { id: waId, sender: `${number}@s.whatsapp.net`, fromMe: true, sent }
      : null;
  };
}
