import type { Logger } from "../../log.ts";
import type { Incoming } from "../../model/messages.ts";
import type { Store } from "../../store/store.ts";
import type { WAMessage } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { createConversion } from "../content/conversion.ts";
import { createKnownPolls } from "../content/known-polls.ts";
import { createPollReader } from "../content/poll-votes.ts";
import { createEditReader } from "../content/sealed-edits.ts";
import type { SealedReader, SealedSources } from "../content/sealed-sources.ts";
import { resentMessages } from "../content/resent.ts";
import { ownIdsOf } from "../identity.ts";
import type { ConnectionListener, Witness } from "../port.ts";
import type { AuthState } from "../signal/auth-state.ts";
import { createJournal, type Journal } from "../signal/journal.ts";
import { createMissing, type Missing } from "../signal/missing.ts";
import type { ChatTimers } from "../send/chat-timers.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import { messagesFromPhone, type Placeholder } from "./phone-answers.ts";

/** What receiving needs of its connection. */
interface ReceivingDeps {
  store: Store;
  deviceId: number;
  log: Logger;
  auth: AuthState;
  memory: DeviceMemory;
  timers: ChatTimers;
  witness: Witness;
  listener: Pick<ConnectionListener, "messages">;
  polls: Omit<SealedSources, "lidOfNumber">;
  clockAhead(): number;
  /** A piece of history waits in the journal to be imported; null: none is. */
  onHistory: (() => void) | null;
  /** The database failed: the connection must close. */
  onFailed(error: unknown): void;
}

/** What one connection makes of what it decrypts. */
export interface Receiving {
  journal: Journal;
  missing: Missing;
  own(): OwnIds;
  /** Numbers of LID users, as far as they are stored. */
  numbersOfLids(lidUsers: string[]): Promise<Map<string, string>>;
  /** Messages that the phone has sent beside the usual way: in its history, or once more. */
  read(messages: WAMessage[]): Promise<Incoming[]>;
}

/** Joins what turns stanzas into stored messages. */
export function createReceiving(deps: ReceivingDeps): Receiving {
  const { store, deviceId, log, auth, memory, witness, onHistory, onFailed } = deps;
  const own = (): OwnIds => ownIdsOf(auth.creds);
  const numbersOfLids = numbersIn(auth);
  const lidOfNumber = async (number: string): Promise<string | null> =>
    (await auth.keys.get("lid-mapping", [number]))[number] ?? null;
  const sources = { ...deps.polls, lidOfNumber };
  const findPoll = createKnownPolls(sources, own, store.box);
  const readVote = createPollReader(sources, own, findPoll);
  const readEdit = createEditReader(sources, own, store.box, findPoll);
  const readSealed: SealedReader = async (incoming, message) =>
    readEdit(await readVote(incoming, message), message);
  const read = (messages: WAMessage[]): Promise<Incoming[]> =>
    resentMessages(messages, own(), numbersOfLids, readSealed);
  const missing = createMissing({ deviceId, witness, own, numbersOfLids, onFailed });
  const tell = (error: unknown, id: string): void =>
    log.error(
      { err: error, device: deviceId, message: id },
      "cannot read or store a received message; recording it as missing",
    );

  const journal = createJournal({
    store,
    deviceId,
    convert: createConversion({
      own,
      numbersOfLids,
      readSealed,
      clockAhead: deps.clockAhead,
      importsHistory: onHistory !== null,
      readResent: async (message) =>
        read(await messagesFromPhone(message, (id) => placeholderIn(memory, id))),
      onSilent: (waId) => witness.read(deviceId, waId),
    }),
    receive: deps.listener.messages,
    onHistory: () => onHistory?.(),
    learned: ({ names, timer }) => deps.timers.learned(names, timer),
    async onUnreadable(attributes, error) {
      tell(error, attributes.id ?? "");
      await missing.undecryptable(attributes);
    },
    async onUnreadableRow(stanzaId, error) {
      tell(error, stanzaId);
      if (stanzaId !== "") await missing.unknown(stanzaId);
    },
    onFailed,
  });
  return { journal, missing, own, numbersOfLids, read };
}

function numbersIn(auth: AuthState): (lidUsers: string[]) => Promise<Map<string, string>> {
  return async (lidUsers) => {
    if (lidUsers.length === 0) return new Map();
    const pairs = await auth.keys.get(
      "lid-mapping",
      lidUsers.map((lidUser) => `${lidUser}_reverse`),
    );
    return new Map(Object.entries(pairs).map(([key, pnUser]) => [key.slice(0, -"_reverse".length), pnUser]));
  };
}

/** What Baileys remembers of a message that came without content. */
async function placeholderIn({ placeholders }: DeviceMemory, id: string): Promise<Placeholder | null> {
  const remembered = await placeholders.get<Placeholder | true>(id);
  return typeof remembered === "object" ? remembered : null;
}
