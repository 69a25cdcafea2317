import type { FoundMessage } from "../../conversations/lookup.ts";
import { shownAddress } from "../../conversations/shown.ts";
import { textOfDraft } from "../../model/content/drafts.ts";
import type { WebhookTrouble } from "../../app/webhook-trouble.ts";
import type { AccountRecord } from "../../accounts/account-record.ts";
import type { KeyRecord } from "../../accounts/api-keys.ts";
import { mayGrant } from "../../accounts/authorize.ts";
import type { Grants } from "../../accounts/caller.ts";
import type { NodeRecord } from "../../app/nodes.ts";
import type { ChannelRecord } from "../../directory/channels.ts";
import type { GroupRecord } from "../../directory/group-record.ts";
import type { DeviceRecord, Why } from "../../numbers/numbers.ts";
import { counted, withSentence } from "../../model/errors/error-sentences.ts";
import { systemTime } from "../../model/time.ts";
import { view } from "../../model/view.ts";
import type { StoredDecision } from "../../pipeline/decisions.ts";
import type { DeliveryRecord, ListenerRecord, WebhookRecord, WebhookTest } from "../../webhooks/index.ts";
import { listener } from "../../webhooks/listeners/settings.ts";
import { webhook } from "../../webhooks/settings.ts";
import type { SentMessage } from "../../path/sent-message.ts";

type ReachoutLock = NonNullable<DeviceRecord["reachout"]>;
type NewChats = NonNullable<DeviceRecord["newChats"]>;

/** How records look in answers: snake case, times in ISO 8601 UTC. */

export const iso = (at: number): string => new Date(at).toISOString();
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

/** A decision as `GET /events` tells of it, before it is shown. */
export interface ToldDecision extends Omit<StoredDecision, "type"> {
  /** Digits of the number. */
  device: string;
}

/** An account for the operator, and in the answers that make one. */
export const accountView = ({ id, name, plan, enabled, createdAt }: AccountRecord) => ({
  id,
  name,
  plan,
  enabled,
  created_at: iso(createdAt),
});

/** A process among those that run on the database. */
export const nodeView = ({ node, partitions, numbers, lagMs, version, since }: NodeRecord) => ({
  node,
  partitions,
  numbers,
  lag_ms: lagMs,
  version,
  since: iso(since),
});

/** A key without its secret; `prefix` is what tells keys apart. */
export const keyView = (key: KeyRecord) => ({
  id: key.id,
  name: key.name,
  permissions: key.permissions,
  devices: key.devices,
  recipients: key.recipients,
  expires_at: isoOrNull(key.expiresAt),
  created_at: iso(key.createdAt),
  last_used_at: isoOrNull(key.lastUsedAt),
  prefix: key.prefix,
});

/** A key as another one sees it: of one that may do more, no more than which it is. */
export const keyViewFor = (caller: Grants, key: KeyRecord) =>
  mayGrant(caller, key) ? keyView(key) : { id: key.id, name: key.name, prefix: key.prefix };

/** A number in the lists and answers about it; `device` is its digits. */
export const deviceView = (device: DeviceRecord) => ({
  device: device.number,
  state: device.state,
  since: iso(device.since),
  last_in: isoOrNull(device.lastIn),
  last_out: isoOrNull(device.lastOut),
  lid: device.lid,
  name: device.name,
  platform: device.platform,
  waiting: device.waiting ?? null,
  reachout: lockView(device.reachout ?? null),
  new_chats: newChatsView(device.newChats ?? null),
  calls: device.calls,
  calls_text: device.callsText,
  proxy: device.proxy?.shown ?? null,
});

const lockView = (lock: ReachoutLock | null) =>
  lock === null || lock.until <= systemTime.now()
    ? null
    : { locked_until: iso(lock.until), reason: lock.reason };

const newChatsView = (quota: NewChats | null) =>
  quota && { limit: quota.limit, used: quota.used, resets_at: isoOrNull(quota.resetsAt) };

/** Why a number is in its state; `next_retry_at` is null while no further attempt is planned. */
export const whyView = (
  { holdups: { media, reachout, pausedUntil, warmUp }, ...why }: Why,
  webhook: WebhookTrouble | null,
) => ({
  state: why.state,
  reason: why.reason ?? (isPaused(why, pausedUntil) ? "rate_limited" : null),
  since: iso(why.since),
  until: isoOrNull(why.until ?? (isPaused(why, pausedUntil) ? pausedUntil : null)),
  last_close:
    why.lastClose === null
      ? null
      : { code: why.lastClose.code, reason: why.lastClose.reason, at: iso(why.lastClose.at) },
  next_retry_at: isoOrNull(why.nextRetryAt),
  waiting: why.waiting,
  reachout: reachout === null ? null : { locked_until: iso(reachout.until), reason: reachout.reason },
  warm_up: warmUp && {
    day: warmUp.day,
    limit: warmUp.limit,
    used: warmUp.used,
    resets_at: iso(warmUp.resetsAt),
  },
  webhook: webhook && {
    state: webhook.state,
    failing_since: isoOrNull(webhook.since),
    next_attempt_at: isoOrNull(webhook.nextAt),
  },
  advice: adviceView(why, { media, pausedUntil, warmUp, webhook }),
});

const isPaused = (
  { state, reason }: Pick<Why, "state" | "reason">,
  pausedUntil: number | null,
): pausedUntil is number => state === "connected" && reason === null && pausedUntil !== null;

function adviceView(
  why: Omit<Why, "holdups">,
  {
    media,
    pausedUntil,
    warmUp,
    webhook,
  }: Omit<Why["holdups"], "reachout"> & { webhook: WebhookTrouble | null },
): string {
  if (isPaused(why, pausedUntil))
    return "WhatsApp limits how fast this number may send (429). Sends are kept and resume on their own; if this happens often, lower PACE_PER_MINUTE.";
  if (why.state !== "connected") return why.advice;
  if (media !== null) return mediaAdvice(media);
  if (why.reason === null && warmUp !== null && warmUp.used >= warmUp.limit) return warmUpAdvice(warmUp);
  return webhook !== null && why.reason === null ? webhookAdvice(webhook) : why.advice;
}

function webhookAdvice({ state, since, nextAt }: WebhookTrouble): string {
  const fails = `The number is connected, but its webhook ${since === null ? "fails" : `has failed since ${iso(since)}`}`;
  if (state === "disabled")
    return `${fails} and was switched off. Correct the receiver, then set the webhook again with PUT /devices/{number}/webhook.`;
  const next = nextAt === null ? "" : `; the next try is at ${iso(nextAt)}`;
  return `${fails}. Its events are kept${next}. GET /deliveries shows what it answers.`;
}

const warmUpAdvice = ({ day, limit, resetsAt }: NonNullable<Why["holdups"]["warmUp"]>): string =>
  `This number was linked lately (day ${day} of 10) and has written to ${limit} people for the first time today. Messages to others leave from ${iso(resetsAt)} on; whoever wrote to it is answered at once. WARM_UP=off ends this.`;

const mediaAdvice = ({ since, chats, reason }: NonNullable<Why["holdups"]["media"]>): string =>
  `Since ${iso(since)} WhatsApp's media service has not accepted files: ${reason} ${counted(
    chats,
    "chat waits",
    "chats wait",
  )} for it and will resume on their own; all others work.`;

/** A message that was sent, with every state it has had. */
export const messageView = (message: SentMessage) => ({
  id: message.id,
  sender: message.sender,
  number: message.number,
  kind: message.kind,
  origin: message.origin,
  state: message.state,
  history: message.history.map(({ state, at }) => ({ state, at: iso(at) })),
  ...(message.sendAt === null ? {} : { send_at: iso(message.sendAt) }),
  ...(message.error ? { error: withSentence(message.error) } : {}),
  ...(message.poll ? { poll: message.poll } : {}),
});

/** Any message; what the gateway did not send has no states. @param sent of what it sent */
export const anyMessageView = (message: FoundMessage, sent: SentMessage | null) => ({
  ...(sent === null ? notSentView(message) : messageView(sent)),
  ...(message.edited && { edited: true as const }),
  ...(message.revoked && { revoked: true as const }),
  ...(message.imported && { imported: true as const }),
});

const notSentView = (message: FoundMessage) => ({
  id: message.id,
  sender: message.sender,
  number: shownAddress(message.chat),
  kind: message.type,
  origin: message.by,
  state: null,
  history: [],
});

/** A decision as the event stream tells it, while it happens: it names the number. */
export const decisionView = (decision: ToldDecision) => ({
  message_id: decision.messageId,
  device: decision.device,
  chat: decision.chat,
  by: decision.by,
  route: decision.route,
  guard: decision.guard,
  trail: decision.trail,
  at: iso(decision.at),
});

/** A decision as `GET /devices/{number}/decisions` lists it: with the message's type, without the number. */
export const storedDecisionView = (decision: StoredDecision) => ({
  message_id: decision.messageId,
  chat: decision.chat,
  type: decision.type,
  by: decision.by,
  route: decision.route,
  guard: decision.guard,
  trail: decision.trail,
  at: iso(decision.at),
});

/** A group for `POST /groups`; `participants` is how many there are. */
export const groupView = (group: GroupRecord) => ({
  id: group.id,
  name: group.name,
  participants: group.participants,
  only_admins: group.onlyAdmins,
  is_member: group.isMember,
  is_admin: group.isAdmin,
  can_send: group.canSend,
});

/** A registered channel; `role` is the number's own in it. */
export const channelView = ({ id, name, role, canSend }: ChannelRecord) => ({
  id,
  name,
  role,
  can_send: canSend,
});

/** What came of a sample event. */
export function webhookTestView({ request, replies, statusCode, durationMs, ...rest }: WebhookTest) {
  return {
    status_code: statusCode,
    duration_ms: durationMs,
    ...rest,
    request: { method: "POST", ...request },
    replies: replies.map((reply) => {
      const { kind, quoted } = reply;
      if (kind === "poll") return { kind, text: reply.name, quoted, options: reply.options };
      if (kind === "media") return { kind, text: reply.caption, quoted, url: reply.url };
      if (kind === "shared") return { kind: reply.draft.kind, text: textOfDraft(reply.draft), quoted };
      return { kind, text: reply.text, quoted };
    }),
  };
}

/** A webhook without its secret, which is shown only when it is made. */
export const webhookView = (record: WebhookRecord) => view(webhook, record);

/** A listener as its owner set it, and how it does. */
export const listenerView = (record: ListenerRecord) => view(listener, record);

/** A delivery with its attempts, as lists and `GET /deliveries/{id}` show it. */
export const deliveryView = (delivery: DeliveryRecord) => ({
  id: delivery.id,
  device: delivery.device,
  listener: delivery.listener,
  message_id: delivery.messageId,
  type: delivery.type,
  url: delivery.url,
  state: delivery.state,
  attempts: delivery.attempts.map((attempt) => ({
    at: iso(attempt.at),
    status_code: attempt.statusCode,
    duration_ms: attempt.durationMs,
    error: attempt.error,
    answer: attempt.answer,
  })),
  next_at: isoOrNull(delivery.nextAt),
  reply: delivery.reply,
});
