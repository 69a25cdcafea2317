import { readEnvelope, type OwnIds, type StanzaAttributes } from "../addresses.ts";
import { isChannel, isLid, userOf, withoutDevice } from "../jids.ts";
import { secondsIn } from "../stanza-numbers.ts";
import type { MissingMessage, MissingReason, Witness } from "../port.ts";

/** The one kind that Baileys takes for a message of its own instead of a placeholder. */
const VIEW_ONCE = "view_once";
/** What a companion gets no content of, and its phone would not send on. */
const PHONE_ONLY = new Set([
  VIEW_ONCE,
  "view_once_unavailable_fanout",
  "bot_unavailable_fanout",
  "hosted_unavailable_fanout",
]);

/** Per connection: nobody but the service itself can make such stanzas, and it has no reason to. */
const MOST_REFUSALS = 100;

/** What is noted of a message of which only the id is known. */
const NOBODYS: MissingMessage = {
  id: "",
  chat: "",
  sender: "",
  fromMe: false,
  jid: "",
  participant: null,
  timestamp: 0,
  reason: "undecryptable",
};

/** What noting missing messages needs of a connection. */
export interface MissingDeps {
  deviceId: number;
  witness: Pick<Witness, "missing">;
  own(): OwnIds;
  numbersOfLids(lidUsers: string[]): Promise<Map<string, string>>;
  /** It could not be stored: nothing more may be acknowledged. */
  onFailed(error: unknown): void;
}

/** Notes messages of one connection that came and could not be read, before WhatsApp is told anything of them. */
export interface Missing {
  undecryptable(attributes: StanzaAttributes): Promise<void>;
  /** One that Baileys has refused without a look at its content: a stanza that it cannot read. Only so many are noted. */
  refused(attributes: StanzaAttributes): Promise<void>;
  /** One of which nothing but its id is known. */
  unknown(id: string): Promise<void>;
  /** @returns whether somebody is to be asked for the content */
  unavailable(attributes: StanzaAttributes, type: string): Promise<boolean>;
}

/** Notes what one connection could not read; see `Missing`. */
export function createMissing(deps: MissingDeps): Missing {
  let refusals = 0;

  async function note(attributes: StanzaAttributes, reason: MissingReason): Promise<void> {
    // Neither settings of the own devices nor what happens to a channel's posts is written for anybody.
    if (attributes.category === "peer" || isChannel(attributes.from ?? "")) return;
    await store(() => describe(attributes, reason));
  }

  async function store(describeIt: () => Promise<MissingMessage>): Promise<void> {
    try {
      await deps.witness.missing(deps.deviceId, await describeIt());
    } catch (error) {
      deps.onFailed(error);
      throw error;
    }
  }

  async function describe(attributes: StanzaAttributes, reason: MissingReason): Promise<MissingMessage> {
    const { from, participant, recipient } = attributes;
    const lidUsers = [from, participant, recipient].map(withoutDevice).filter(isLid).map(userOf);
    const numbers = await deps.numbersOfLids(lidUsers);
    const envelope = readEnvelope(attributes, deps.own(), (lidUser) => numbers.get(lidUser) ?? null);
    return {
      id: envelope.id,
      chat: envelope.chatKey,
      sender: envelope.sender.canonical,
      fromMe: envelope.fromMe,
      jid: envelope.chat,
      participant: envelope.participant,
      timestamp: secondsIn(attributes.t),
      reason,
    };
  }

  return {
    undecryptable: (attributes) => note(attributes, "undecryptable"),
    async refused(attributes) {
      if (!attributes.id || !attributes.from || refusals >= MOST_REFUSALS) return;
      refusals++;
      await note(attributes, "undecryptable");
    },
    unknown: (id) => store(async () => ({ ...NOBODYS, id })),
    async unavailable(attributes, type) {
      await note(attributes, PHONE_ONLY.has(type) ? "phone_only" : "unavailable");
      return type !== VIEW_ONCE;
    },
  };
}
