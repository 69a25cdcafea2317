import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { SECOND_MS } from "../model/time.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import {
  GroupRefused,
  type GroupAdmin,
  type GroupDetails,
  type GroupSettings,
  type JoinRequest,
  type MemberAction,
  type MemberOutcome,
  type NewGroup,
  type RequestAction,
} from "../whatsapp/port/group-admin.ts";
import { connected } from "./connected.ts";
import { PACES, tooOften, type Paces } from "./paces.ts";
import { toRecord, type GroupRecord, type Own } from "./group-record.ts";

export { MEMBER_ACTIONS, REQUEST_ACTIONS } from "../whatsapp/port/group-admin.ts";
export type {
  GroupSettings,
  JoinRequest,
  MemberAction,
  MemberOutcome,
} from "../whatsapp/port/group-admin.ts";

/** A group as one of its members sees it. */
export type SeenGroup = GroupDetails & { record: GroupRecord };

/**
 * What numbers do with groups, at whichever node.
 *
 * @throws UNAVAILABLE while the number is not connected; NOT_FOUND for what is no group of it; CANNOT_SEND for those who are no
 *   admins; RATE_LIMITED; WHATSAPP_REFUSED
 */
export type GroupAdministration = {
  details(deviceId: number, id: string): Promise<SeenGroup>;
  create(deviceId: number, wanted: NewGroup): Promise<{ group: SeenGroup; refused: MemberOutcome[] }>;
  change(deviceId: number, asked: { id: string; settings: GroupSettings }): Promise<null>;
  members(
    deviceId: number,
    asked: { id: string; action: MemberAction; people: readonly string[] },
  ): Promise<MemberOutcome[]>;
  invite(deviceId: number, asked: { id: string; renew: boolean }): Promise<string>;
  join(deviceId: number, code: string): Promise<{ id: string; requested: boolean }>;
  leave(deviceId: number, id: string): Promise<null>;
  requests(deviceId: number, id: string): Promise<JoinRequest[]>;
  decide(
    deviceId: number,
    asked: { id: string; action: RequestAction; people: readonly string[] },
  ): Promise<MemberOutcome[]>;
};

interface GroupAdministrationDeps {
  cluster: Cluster;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "groupAdmin"> | null;
  identity: (deviceId: number) => Own | null;
  paces: Paces;
}

/** WhatsApp takes its time to add a thousand people. */
const DEADLINE_MS = 25 * SECOND_MS;
const ask = <Asked, Answered>(name: string) =>
  defineQuestion<Asked, Answered>(`directory.group-admin.${name}`, DEADLINE_MS);
type AskedOf<Name extends keyof GroupAdministration> = Parameters<GroupAdministration[Name]>[1];
type AnswerOf<Name extends keyof GroupAdministration> = Awaited<ReturnType<GroupAdministration[Name]>>;

const DETAILS = ask<AskedOf<"details">, AnswerOf<"details">>("details");
const CREATE = ask<AskedOf<"create">, AnswerOf<"create">>("create");
const CHANGE = ask<AskedOf<"change">, AnswerOf<"change">>("change");
const MEMBERS = ask<AskedOf<"members">, AnswerOf<"members">>("members");
const INVITE = ask<AskedOf<"invite">, AnswerOf<"invite">>("invite");
const JOIN = ask<AskedOf<"join">, AnswerOf<"join">>("join");
const LEAVE = ask<AskedOf<"leave">, AnswerOf<"leave">>("leave");
const REQUESTS = ask<AskedOf<"requests">, AnswerOf<"requests">>("requests");
const DECIDE = ask<AskedOf<"decide">, AnswerOf<"decide">>("decide");

/** Whichever node is asked, the number's own one does it. */
export function createGroupAdministration(deps: GroupAdministrationDeps): GroupAdministration {
  const { bus } = deps.cluster;
  const lines = (deviceId: number): GroupAdmin => connected(deps.connection(deviceId)).groupAdmin;
  const seen = (deviceId: number, group: GroupDetails): SeenGroup => ({
    ...group,
    record: toRecord(group, deps.identity(deviceId) ?? NOBODY),
  });

  /** Of what WhatsApp blocks numbers for that do it too often. @throws RATE_LIMITED; nothing was done */
  async function mayDo(deviceId: number, what: keyof typeof SAID, count = 1): Promise<void> {
    const waitMs = await deps.paces.take(deviceId, what, count);
    if (waitMs > 0) throw tooOften(`${SAID[what]} ${PACES[what].words}.`, waitMs);
  }

  /** Of a group: a number that is no member of it hears what it would hear of a group that there is not. */
  async function inGroup<T>(
    deviceId: number,
    id: string,
    work: (line: GroupAdmin) => Promise<T>,
  ): Promise<T> {
    const line = lines(deviceId);
    try {
      return await work(line);
    } catch (error) {
      if (!(error instanceof GroupRefused)) throw error;
      const isMember = NOT_ALLOWED.has(error.code) && (await isIn(line, id));
      throw isMember || !HIDDEN.has(error.code) ? refusal(error.code) : noGroup();
    }
  }

  bus.answer(DETAILS, (deviceId, id) =>
    inGroup(deviceId, id, async (line) => seen(deviceId, await line.details(id))),
  );
  bus.answer(CREATE, async (deviceId, wanted) => {
    const line = lines(deviceId);
    await mayDo(deviceId, "groups");
    const { group, refused } = await inWords(() => line.create(wanted), notMade);
    return { group: seen(deviceId, group), refused };
  });
  bus.answer(CHANGE, (deviceId, { id, settings }) =>
    inGroup(deviceId, id, async (line) => (await line.change(id, settings), null)),
  );
  bus.answer(MEMBERS, (deviceId, { id, action, people }) =>
    inGroup(deviceId, id, async (line) => {
      if (action === "add") await mayDo(deviceId, "members", people.length);
      return line.members(id, action, people);
    }),
  );
  bus.answer(INVITE, (deviceId, { id, renew }) => inGroup(deviceId, id, (line) => line.invite(id, renew)));
  bus.answer(JOIN, async (deviceId, code) => {
    const line = lines(deviceId);
    await mayDo(deviceId, "joins");
    return inWords(() => line.join(code), refusal);
  });
  bus.answer(LEAVE, (deviceId, id) => inGroup(deviceId, id, async (line) => (await line.leave(id), null)));
  bus.answer(REQUESTS, (deviceId, id) => inGroup(deviceId, id, (line) => line.requests(id)));
  bus.answer(DECIDE, (deviceId, { id, action, people }) =>
    inGroup(deviceId, id, (line) => line.decide(id, action, people)),
  );

  return {
    details: (deviceId, id) => bus.ask(DETAILS, deviceId, id),
    create: (deviceId, wanted) => bus.ask(CREATE, deviceId, wanted),
    change: (deviceId, asked) => bus.ask(CHANGE, deviceId, asked),
    members: (deviceId, asked) => bus.ask(MEMBERS, deviceId, asked),
    invite: (deviceId, asked) => bus.ask(INVITE, deviceId, asked),
    join: (deviceId, code) => bus.ask(JOIN, deviceId, code),
    leave: (deviceId, id) => bus.ask(LEAVE, deviceId, id),
    requests: (deviceId, id) => bus.ask(REQUESTS, deviceId, id),
    decide: (deviceId, asked) => bus.ask(DECIDE, deviceId, asked),
  };
}

const SAID = {
  groups: "WhatsApp blocks numbers that create many groups: at most",
  members: "WhatsApp blocks numbers that add many people to groups: at most",
  joins: "WhatsApp blocks numbers that join many groups: at most",
};
const NOBODY: Own = { number: "", lid: null };
/** WhatsApp does not say for how long. */
const LIMITED_S = 300;

async function inWords<T>(work: () => Promise<T>, words: (code: number) => GatewayError): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof GroupRefused ? words(error.code) : error;
  }
}

/** Whom WhatsApp does not know, it may also name one by one; see `refused` of a group that was made. */
function notMade(code: number): GatewayError {
  if (code === 406)
    return new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
      fields: { name: ["WhatsApp does not accept this name."] },
    });
  const isUnknown = code === 400 || code === 404;
  if (!isUnknown) return refusal(code);
  return new GatewayError(
    "NOT_ON_WHATSAPP",
    "WhatsApp made no group: not all of the participants are on WhatsApp. POST /check-numbers says which.",
  );
}

/** WhatsApp's codes for those who are no admins, or no members. */
const NOT_ALLOWED: ReadonlySet<number> = new Set([401, 403]);
/** Those that say nothing but that this group is not the number's. */
const HIDDEN: ReadonlySet<number> = new Set([401, 403, 404, 410]);

const isIn = (line: GroupAdmin, id: string): Promise<boolean> =>
  line.details(id).then(
    () => true,
    () => false,
  );

const noGroup = (): GatewayError => new GatewayError("NOT_FOUND", "The number is in no such group.");

function refusal(code: number): GatewayError {
  const extra = { whatsapp_code: code };
  switch (code) {
    case 401:
    case 403:
      return new GatewayError("CANNOT_SEND", "Only admins of the group may do that.", {
        extra: { reason: "only_admins", ...extra },
      });
    case 404:
    case 406:
    case 410:
      return new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
        fields: { invite: ["Leads to no group, or is no longer valid."] },
      });
    case 429:
      return new GatewayError("RATE_LIMITED", "WhatsApp wants fewer changes of groups. Wait five minutes.", {
        retryAfter: LIMITED_S,
      });
    default:
      return new GatewayError("WHATSAPP_REFUSED", `WhatsApp refused with error ${code}.`, { extra });
  }
}
