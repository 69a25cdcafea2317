import type { WASocket } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";
import type { Composed, Composer } from "../content/compose.ts";
import { isChannel, isGroup, isLid, isPn } from "../jids.ts";
import type { OutgoingMessage, ReachoutLock, SendOutcome } from "../port.ts";
import type { EncryptionDeps } from "../signal/encrypt.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";
import type { Ack, Acks } from "./acks.ts";
import { checkGroup, checkPerson } from "./after-ack.ts";
import type { Ahead } from "./ahead.ts";
import { channelPost } from "./channel-post.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import { directMessage } from "./direct-message.ts";
import { prepareGroup, renewOurKey, writeToGroup } from "./group-message.ts";
import { LIMITED, NO_KEYS, outcomeOf } from "./outcomes.ts";
import { forgetDevices } from "../devices/participants.ts";
import type { PrivacyTokens } from "./privacy-tokens.ts";
import { NOT_ON_WHATSAPP, type Directory } from "../devices/recipients.ts";
import type { TargetForm, Recipients, Target } from "./targets.ts";
import type { NotOpened, Sessions } from "./sessions.ts";
import { isNoMember, type Groups } from "../groups/socket-groups.ts";
import type { Standing } from "../life/standing.ts";
import { Unanswered } from "../devices/unanswered.ts";

/** Time for everything that WhatsApp is asked before a message can be encrypted. */
const NOT_MEMBER = "not_member";
const PREPARE_MS = 10 * SECOND_MS;
const ACK_TIMEOUT_MS = 15 * SECOND_MS;
const STALE_DEVICES = 479;
const REACHOUT_LOCKED = 463;
const RATE_OVERLIMIT = 429;
/** The members of a group were named by the other kind of address than it goes by. */
const STALE_ADDRESSING = 421;

/** What sending on one connection needs. */
export interface SendDeps {
  socket: WASocket;
  encryption: EncryptionDeps;
  ahead: Ahead;
  time: Time;
  acks: Acks;
  composer: Pick<Composer, "compose">;
  memory: DeviceMemory;
  directory: Directory;
  sessions: Sessions;
  groups: Pick<Groups, "cached" | "forget" | "readdress">;
  tokens: PrivacyTokens;
  standing: Pick<Standing, "lockNow">;
}

/** What the server says of a message that it has taken: a hash of the devices that it is for, in groups the kind of their addresses. */
type Accepted = Extract<Ack, { kind: "accepted" }>;

/** Everything that WhatsApp is asked for a message has been answered. */
interface Ready {
  kind: "ready";
  /** The address in the form that counts. */
  jid: string;
  /** Encrypts and writes it. Resolves when the frame is written. */
  write(message: OutgoingMessage, composed: Composed): Promise<void>;
  /** The server has taken it. */
  accepted?(message: OutgoingMessage, composed: Composed, ack: Accepted): void;
  /** It was refused once already, and its group has been asked for anew. */
  readdressed?: true;
  /** All addresses of a person. */
  addresses: (string | null)[];
  /** The address of the person that is not written to; absent when there is none. */
  otherForm?: TargetForm;
}

/**
 * Sends one message and waits for the server's ack. Never throws; see `SendOutcome` for what the outcomes mean.
 *
 * What WhatsApp has to be asked (devices, keys) is asked first, within a time limit of this message alone and outside of
 * any transaction: nobody else's message waits for it. The ack is waited for from when the message is written.
 */
export function sendMessage(deps: SendDeps, message: OutgoingMessage): Promise<SendOutcome> {
  return outsideTransactions(() => attempt(deps, message))
    .catch(outcomeOf)
    .then((outcome) => withPause(deps, outcome));
}

/** For how long WhatsApp wants to be asked nothing, as far as it says. */
function withPause({ memory, time }: SendDeps, outcome: SendOutcome): SendOutcome {
  const waitMs = memory.asking.pausedUntil - time.now();
  return outcome.kind === "limited" && waitMs > 0 ? { ...outcome, waitMs } : outcome;
}

const late = (): Error => new Unanswered("in time with data that the message needs");

async function attempt(deps: SendDeps, wanted: OutgoingMessage): Promise<SendOutcome> {
  const ready = await deps.time.deadline(PREPARE_MS, prepare(deps, wanted.jid), late);
  if (ready.kind !== "ready") return ready;
  const message = { ...wanted, jid: ready.jid };
  const names = ready.addresses.filter((address) => address !== null);
  const composed = await deps.composer.compose(message, [wanted.jid, ...names]);
  if (composed.kind !== "composed") return composed;
  const outcome = await deliver(deps, { ready, message, composed });
  if (!isReachoutLocked(outcome)) return outcome;
  const other =
    ready.otherForm === undefined
      ? null
      : await deliverByOtherForm(deps, ready.otherForm, { wanted, composed });
  return other ?? withLock(outcome, await deps.standing.lockNow());
}

/** The end of the lock, and WhatsApp's word for why, as far as it names them. */
function withLock(outcome: SendOutcome, lock: ReachoutLock | null): SendOutcome {
  if (outcome.kind !== "refused" || lock === null) return outcome;
  return { ...outcome, until: lock.until, ...(lock.reason !== null && { lockedFor: lock.reason }) };
}

const isReachoutLocked = (outcome: SendOutcome): boolean =>
  outcome.kind === "refused" && outcome.code === REACHOUT_LOCKED;

/**
 * WhatsApp refuses with the same error who may write to nobody new, and a message to an address that its owner has moved
 * away from. What is refused by both addresses is refused.
 *
 * @returns null when that address said no more than the first one
 */
async function deliverByOtherForm(
  deps: SendDeps,
  form: TargetForm,
  { wanted, composed }: { wanted: OutgoingMessage; composed: Composed },
): Promise<SendOutcome | null> {
  const ready = await deps.time.deadline(PREPARE_MS, preparePerson(deps, wanted.jid, form), late);
  if (ready.kind !== "ready") return ready.kind === "refused" ? null : ready;
  const outcome = await deliver(deps, { ready, message: { ...wanted, jid: ready.jid }, composed });
  if (outcome.kind === "sent") deps.memory.acceptedForms.set(wanted.jid, form);
  return outcome.kind === "refused" ? null : outcome;
}

/** Writes a message and waits for its ack. */
async function deliver(
  deps: SendDeps,
  { ready, message, composed }: { ready: Ready; message: OutgoingMessage; composed: Composed },
): Promise<SendOutcome> {
  const wait = deps.acks.expect(message.waId);
  try {
    await ready.write(message, composed);
  } catch (error) {
    wait.cancel();
    throw error;
  }
  wait.written(ACK_TIMEOUT_MS);
  failpoint("before-ack");
  const ack = await wait.result;
  failpoint("after-ack");
  if (ack.kind === "accepted") ready.accepted?.(message, composed, ack);
  // Nobody has our key that came with it.
  if (ack.kind === "refused" && isGroup(ready.jid)) await renewOurKey(deps.socket, ready.jid);
  if (ack.kind !== "refused" || ack.code !== STALE_ADDRESSING || !isGroup(ready.jid) || ready.readdressed)
    return describeAck(deps, ready, ack);
  // Nobody has got it: the same id goes out once more, by the addresses that the group goes by.
  const asked = deps.groups.readdress(ready.jid, ack.addressing ?? null);
  const again = await deps.time.deadline(
    PREPARE_MS,
    asked.then(() => prepare(deps, ready.jid)),
    late,
  );
  if (again.kind !== "ready") return again;
  return deliver(deps, { ready: { ...again, readdressed: true }, message, composed });
}

async function prepare(deps: SendDeps, jid: string): Promise<Ready | SendOutcome> {
  const { socket } = deps;
  if (isPn(jid) || isLid(jid)) return preparePerson(deps, jid);
  if (isGroup(jid)) {
    try {
      await prepareGroup(deps, jid);
    } catch (error) {
      if (isNoMember(error)) return { kind: "refused", code: 403, reason: NOT_MEMBER };
      throw error;
    }
    return {
      kind: "ready",
      jid,
      addresses: [],
      write({ waId, draft }, composed) {
        deps.encryption.onWay?.("out", "not_a_person");
        return writeToGroup(socket, jid, { waId, draft, composed });
      },
      // Without an answer the lists stay for the next message to find out.
      accepted: (_message, _composed, ack) =>
        void outsideTransactions(() => checkGroup(deps, jid, ack)).catch(() => undefined),
    };
  }
  if (!isChannel(jid)) throw new TypeError(`Nothing can be sent to ${jid.split("@")[1] ?? "this address"}.`);
  return {
    kind: "ready",
    jid,
    addresses: [],
    write({ waId, draft }, composed) {
      deps.encryption.onWay?.("out", "not_a_person");
      return socket.sendNode(channelPost(jid, { waId, draft, composed }));
    },
  };
}

async function preparePerson(deps: SendDeps, jid: string, form?: TargetForm): Promise<Ready | SendOutcome> {
  const { socket, tokens } = deps;
  const recipients = await deps.directory.recipientsOf(jid, form);
  if (recipients === NOT_ON_WHATSAPP) return { kind: "refused", code: 404, reason: NOT_ON_WHATSAPP };
  const notOpened = await deps.sessions.open([...recipients.theirs, ...recipients.own]);
  const reachable = without(recipients, notOpened);
  if (reachable.theirs.length === 0 && recipients.theirs.length > 0) {
    if (recipients.theirs.some(({ jid }) => notOpened.get(jid) === "failed"))
      throw new Unanswered("with usable keys");
    return NO_KEYS;
  }
  return {
    kind: "ready",
    jid: recipients.jid,
    async write({ waId, draft }, composed) {
      const token = await tokens.of(recipients.jid, recipients.lid);
      await socket.sendNode(await directMessage(deps, reachable, { waId, draft, composed, token }));
      token.giveOurs();
    },
    accepted: (message, composed, { participantHash }) =>
      checkPerson(deps, { wanted: jid, recipients, message, composed }, participantHash),
    addresses: [recipients.lid, recipients.pn],
    ...otherFormOf(recipients),
  };
}

function otherFormOf({ jid, lid, pn }: Recipients): Pick<Ready, "otherForm"> {
  if (lid === null || pn === null) return {};
  return { otherForm: isLid(jid) ? "number" : "lid" };
}

function without(recipients: Recipients, notOpened: NotOpened): Recipients {
  if (notOpened.size === 0) return recipients;
  const open = ({ jid }: Target): boolean => !notOpened.has(jid);
  return { ...recipients, theirs: recipients.theirs.filter(open), own: recipients.own.filter(open) };
}

function describeAck({ memory }: SendDeps, { jid, addresses }: Ready, ack: Ack): SendOutcome {
  switch (ack.kind) {
    case "accepted":
      return { kind: "sent" };
    case "timeout":
      return { kind: "unknown", reason: "WhatsApp did not ack the message in time." };
    case "closed":
      return {
        kind: "unknown",
        reason: "The connection closed before WhatsApp's ack.",
        blame: "line",
      };
    case "refused": {
      if (ack.code === STALE_DEVICES) forgetDevices(memory, [jid, ...addresses]);
      if (ack.code === RATE_OVERLIMIT) return LIMITED;
      return {
        kind: "refused",
        code: ack.code,
        reason: `WhatsApp refused the message with error ${ack.code}.`,
      };
    }
  }
}
