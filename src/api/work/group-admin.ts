import type { Caller } from "../../accounts/caller.ts";
import type { GroupSettings, MemberAction, MemberOutcome, SeenGroup } from "../../directory/group-admin.ts";
import { parseDestination, type Destination } from "../../model/address.ts";
import { mayReach } from "../access/recipients.ts";
import { findSender, requireLinked } from "../access/senders.ts";
import { notFound } from "../answers/unmatched.ts";
import type { App } from "../services.ts";
import { requireRecipients } from "./send.ts";
import { groupView, isoOrNull } from "../views/views.ts";

/**
 * The number and the group that a request is about.
 *
 * @param named the group, as it stands in the path
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED; NOT_FOUND for what is no group, or outside of the key's `recipients`
 */
export async function groupOf(app: App, caller: Caller, sender: string, named: string | undefined) {
  const device = findSender(app, caller, sender);
  const place = parseDestination(named ?? "");
  if (place?.kind !== "group" || !(await mayReach(app, caller, device.id, place.number))) throw notFound();
  requireLinked(app, device);
  return { deviceId: device.id, id: place.jid };
}

/**
 * What is done to people of a group. Nobody is brought into one whom the key may not write to.
 *
 * @throws RECIPIENT_NOT_ALLOWED, and what {@link groupOf} and `GroupAdministration` throw
 */
export async function changeMembersOf(
  app: App,
  caller: Caller,
  { sender, action, numbers }: { sender: string; action: MemberAction; numbers: Destination[] },
  named: string | undefined,
) {
  const { deviceId, id } = await groupOf(app, caller, sender, named);
  if (action === "add") await requireRecipients(app, caller, { id: deviceId }, numbers);
  const people = numbers.map(({ jid }) => jid);
  return { results: outcomesView(numbers, await app.groupAdmin.members(deviceId, { id, action, people })) };
}

/** A group as `GET /groups/{id}` shows it. */
export const detailsView = (group: SeenGroup) => ({
  ...groupView(group.record),
  description: group.description,
  owner: group.owner,
  created_at: isoOrNull(group.createdAt),
  members: group.participants.map(({ number, lid, admin }) => ({ number, lid, admin })),
  announce: group.announce,
  locked: group.locked,
  join_approval: group.approval,
  disappearing: group.ephemeral,
  community: group.parent,
});

/** What WhatsApp's codes mean of somebody who was to be added, removed, or let in. */
const REASONS: Record<number, string> = {
  401: "blocked",
  403: "not_allowed",
  404: "not_found",
  408: "left_recently",
  409: "already_member",
  500: "group_full",
};

/** In a word; a code that is not known stays one. */
export const reasonOf = (code: number): string => REASONS[code] ?? `whatsapp_${code}`;

/** One row for each of the people that were named. */
export const outcomesView = (people: readonly Destination[], outcomes: readonly MemberOutcome[]) =>
  people.map(({ number, jid }) => {
    const error = outcomes.find((one) => one.jid === jid)?.error ?? null;
    return { number, status: error === null, ...(error !== null && { error: reasonOf(error) }) };
  });

/** Fields of `PATCH /groups/{id}` as WhatsApp's settings. */
export function settingsOf(input: {
  name?: string | undefined;
  description?: string | undefined;
  announce?: boolean | undefined;
  locked?: boolean | undefined;
  join_approval?: boolean | undefined;
  disappearing?: number | undefined;
}): GroupSettings {
  const { name, description, announce, locked, join_approval: approval, disappearing } = input;
  return {
    ...(name !== undefined && { subject: name }),
    ...(description !== undefined && { description }),
    ...(announce !== undefined && { announce }),
    ...(locked !== undefined && { locked }),
    ...(approval !== undefined && { approval }),
    ...(disappearing !== undefined && { ephemeral: disappearing }),
  };
}

interface Wanted {
  sender: string;
  name: string;
  description: string;
  participants: Destination[];
  invite: boolean;
}

/**
 * Makes a group. Who may not be added is told of, and gets its link as a message when that is asked for.
 *
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED, RECIPIENT_NOT_ALLOWED, and what `GroupAdministration` throws
 */
export async function makeGroup(app: App, caller: Caller, wanted: Wanted) {
  const device = findSender(app, caller, wanted.sender);
  requireLinked(app, device);
  await requireRecipients(app, caller, device, wanted.participants);
  const { group, refused } = await app.groupAdmin.create(device.id, {
    subject: wanted.name,
    description: wanted.description,
    participants: wanted.participants.map(({ jid }) => jid),
  });
  const reasons = new Map(refused.map(({ jid, error }) => [jid, error ?? 0]));
  const left = wanted.participants.filter(({ jid }) => reasons.has(jid));
  const invited = wanted.invite ? await invite(app, device.id, group.id, left) : new Map<string, string>();
  const results = wanted.participants.map(({ number, jid }) => {
    const reason = reasons.get(jid);
    const message = invited.get(jid);
    return {
      number,
      added: reason === undefined,
      ...(reason !== undefined && { reason: reasonOf(reason) }),
      ...(message !== undefined && { invite: message }),
    };
  });
  return { data: detailsView(group), results };
}

/** What a link to a group looks like. */
export const linkOf = (code: string): string => `https://chat.whatsapp.com/${code}`;

/** @returns ids of the messages by address */
async function invite(
  app: App,
  deviceId: number,
  id: string,
  people: Destination[],
): Promise<Map<string, string>> {
  if (people.length === 0) return new Map();
  const code = await app.groupAdmin.invite(deviceId, { id, renew: false });
  const draft = { kind: "text" as const, text: linkOf(code) };
  const sent = await app.outbox.submit({ deviceId, destinations: people, draft });
  return new Map(
    sent.flatMap(({ id: message }, index) => (message === null ? [] : [[people[index]!.jid, message]])),
  );
}
