import type { WebSocket } from "ws";
import type { MediaStore } from "../media/store.ts";
import type { Link } from "../people/link.ts";
import type { DeviceAddress } from "../people/address.ts";
import type { Random } from "../random.ts";
import type { ServiceBehaviour } from "../surface/behaviour.ts";
import type { Time } from "../time.ts";
import type { Transcript } from "../transcript.ts";
import type { Violations } from "../violations.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { makeServerIdentity } from "../wire/noise.ts";
import type { Account, Connection, Device } from "../world/accounts.ts";
import { Profiles } from "../world/profiles.ts";
import type { World } from "../world/world.ts";
import { AcceptedMessages } from "./messages/accepted-messages.ts";
import { createAccountChanges } from "./accounts/account-changes.ts";
import { createAcks } from "./delivery/acks.ts";
import { createAppStates } from "./accounts/app-state.ts";
import { createBacklog, createIbs } from "./delivery/backlog.ts";
import type { Changes } from "./changes.ts";
import { createChannels } from "./channels/channels.ts";
import { CallBook } from "./calls/call-book.ts";
import { createCalls } from "./calls/calls.ts";
import { createChatStates } from "./accounts/chat-state.ts";
import { createCopies } from "./messages/copies.ts";
import { DeliveredStanzas } from "./delivery/delivered-stanzas.ts";
import { createDelivery } from "./delivery/delivery.ts";
import { createDeviceLists } from "./accounts/device-lists.ts";
import { createDirectMessages } from "./messages/direct-messages.ts";
import { createDirtyBits } from "./accounts/dirty-bits.ts";
import { createEdges } from "./edges.ts";
import { createGroupMessages } from "./messages/group-messages.ts";
import { createGroups } from "./groups/index.ts";
import { noHooks } from "./hooks.ts";
import type { IqHandler } from "./iq/handler.ts";
import { createIqHandlers, createIqs } from "./iq/index.ts";
import { createLidChanges } from "./accounts/lid-changes.ts";
import { attachLink } from "./link-connection.ts";
import { createLogin } from "./login.ts";
import { createMediaRetry } from "./delivery/media-retry.ts";
import { MessageBook } from "./messages/message-book.ts";
import { createMessageKeys } from "./messages/message-keys.ts";
import { createMessages } from "./messages/messages.ts";
import { createOwnReading } from "./delivery/own-reading.ts";
import { createNewChats } from "./messages/new-chats.ts";
import { createNumberChanges } from "./accounts/number-changes.ts";
import { createPairing } from "./linking/pairing.ts";
import { createPasskeys } from "./linking/passkeys.ts";
import { createPrivacyTokens } from "./messages/privacy-tokens.ts";
import { createPresences } from "./accounts/presence.ts";
import { createReachout } from "./messages/reachout.ts";
import { createReceiptGathering } from "./delivery/receipt-gathering.ts";
import { createReceipts } from "./delivery/receipts.ts";
import { createRouter } from "./router.ts";
import { SocketConnection } from "./socket-connection.ts";
import { createStamps } from "./stamps.ts";
import { StanzaLog } from "./stanza-log.ts";
import { createStatuses } from "./messages/status.ts";
import { createStrictness } from "./strictness.ts";

/** The parts of a service that it shares with the people, the surface and the media host. */
interface ServerParts {
  world: World;
  random: Random;
  time: Time;
  violations: Violations;
  transcript: Transcript;
  changes: Changes;
  media: MediaStore;
  behaviour: ServiceBehaviour;
  /** Brings an account's phones online if they have never been. */
  wake: (account: Account) => Promise<void>;
  qr: { refs: number; firstMs: number; nextMs: number };
}

/** The assembled service, as the driver, the faults and the simulator's own tests use it. */
export type SimulatorServer = ReturnType<typeof createServer>;

/** Assembles the service. Every part declares what it needs and sees nothing else. */
export function createServer(parts: ServerParts) {
  const core = createCore(parts);
  const services = createServices(core);
  const connections = new Set<Connection>();
  const login = createLogin({ ...core, ...services });
  const iqHandlers = createIqHandlers({ ...core, ...services, ...login });
  const handlers = createHandlers({ ...core, ...services, ...login, iqHandlers });
  const route = createRouter({ ...core, handlers });

  function disconnected(connection: Connection): void {
    connections.delete(connection);
    services.pairing.forget(connection);
    const { device } = connection;
    if (device?.connection === connection) {
      device.connection = undefined;
      device.active = false;
      services.presences.gone(device);
    }
    core.changed();
  }

  const wires = { ...core, ...services, ...login, connections, route, disconnected };
  return {
    ...core,
    ...services,
    /** Every stanza, by its tag, and every question that is taken from clients. */
    understood: { stanzas: Object.keys(handlers), iqs: iqHandlers },
    /** A client has connected. */
    accept(socket: WebSocket): void {
      connections.add(new SocketConnection(wires, socket));
    },
    /** Connects a simulated phone at node level. @throws when the account or the device does not exist */
    attach: (address: DeviceAddress): Link => attachLink(wires, address),
    /** Closes every connection. */
    close(): void {
      services.pairing.close();
      for (const connection of connections) connection.cut();
    },
  };
}

/** The state, and delivery of stanzas to devices. */
function createCore(parts: ServerParts) {
  const { world, random, time, transcript, changes, ...rest } = parts;
  const state = {
    ...rest,
    ...changes,
    world,
    random,
    time,
    transcript,
    ...createStamps(time),
    hooks: noHooks(),
    identity: makeServerIdentity(random.fork("noise")),
    stanzas: new StanzaLog(time),
    book: new MessageBook(),
    calls: new CallBook(),
    accepted: new AcceptedMessages(),
    profiles: new Profiles(),
    delivered: new DeliveredStanzas(),
    /** Timestamps and push names that a caller chose for single messages, by sender and id. */
    overrides: new Map<string, { t?: string; notify?: string }>(),
  };
  const left = (device: Device, message: BinaryNode): void => {
    state.delivered.add(device, message);
    const { id, offline } = message.attrs;
    if (id && offline !== undefined)
      transcript.underway(device, world.authorOf(message), id, { offline: true });
  };
  const delivery = createDelivery({ ...state, left });
  return { ...state, ...delivery, ...createBacklog({ ...state, ...delivery }) };
}

/** What handlers share, besides the state. */
function createServices(core: ReturnType<typeof createCore>) {
  const passkeys = createPasskeys(core);
  const groups = createGroups(core);
  return {
    edges: createEdges(core),
    deviceLists: createDeviceLists(core),
    lidChanges: createLidChanges(core),
    groups,
    numberChanges: createNumberChanges({ ...core, groups }),
    channels: createChannels(core),
    reachout: createReachout(core),
    newChats: createNewChats(core),
    privacyTokens: createPrivacyTokens(core),
    presences: createPresences(core),
    appStates: createAppStates(core),
    accountChanges: createAccountChanges(core),
    dirtyBits: createDirtyBits(core),
    passkeys,
    pairing: createPairing({ ...core, passkeys }),
    ...createMediaRetry(core),
  };
}

type HandlerNeeds = ReturnType<typeof createCore> &
  ReturnType<typeof createServices> &
  ReturnType<typeof createLogin> & { iqHandlers: IqHandler[] };

/** Which handler takes which stanza. */
function createHandlers(needs: HandlerNeeds) {
  const copying = { ...needs, passCopy: createCopies(needs) };
  return {
    iq: createIqs({ ...needs, handlers: needs.iqHandlers }),
    message: createMessages({
      ...needs,
      inspect: createStrictness(needs),
      noteKeys: createMessageKeys(needs),
      direct: createDirectMessages(copying),
      toGroup: createGroupMessages(copying),
      toStatus: createStatuses(copying),
    }),
    receipt: createReceipts({
      ...needs,
      gather: createReceiptGathering(needs),
      tellOwn: createOwnReading(needs),
    }),
    ack: createAcks(needs),
    presence: needs.presences.handle,
    chatstate: createChatStates(needs),
    call: createCalls(needs),
    ib: createIbs(needs),
  };
}
