import type { ContactHandle, NumberHandle, Simulator, SimulatorFaults } from "../types.ts";

/** Methods that answer with plain data, the same here and over HTTP. */
export const PLAIN_METHODS = [
  "addContacts",
  "addGroup",
  "changeGroup",
  "group",
  "addCommunity",
  "senderKeyHolders",
  "tellDirty",
  "scan",
  "enterPairingCode",
  "logoutCompanion",
  "changeLid",
  "giveToken",
  "addDevice",
  "changePhone",
  "sleep",
  "wake",
  "requirePasskey",
  "passkeyCode",
  "typeAsOwner",
  "companions",
  "sendText",
  "send",
  "sendAsOwner",
  "votePoll",
  "addPollOption",
  "react",
  "edit",
  "revoke",
  "mediaOf",
  "markRead",
  "markPlayed",
  "typing",
  "setDisappearing",
  "call",
  "endCall",
  "answerCall",
  "callState",
  "postStatus",
  "changeAppState",
  "appState",
  "shareAppStateKeys",
  "spoilAppState",
  "announceAppState",
  "markDirty",
  "dirty",
  "setPicture",
  "picture",
  "about",
  "setAbout",
  "setBusiness",
  "setPushName",
  "setPrivacy",
  "privacy",
  "block",
  "blocked",
  "setPresence",
  "presence",
  "sendHistory",
  "addChannel",
  "changeChannel",
  "channel",
  "postInChannel",
  "reactInChannel",
  "channelPosts",
  "waitForPost",
  "mediaRequests",
  "transcript",
  "messages",
  "accepted",
  "arrivals",
  "waitForMessage",
  "stanzas",
  "countStanzas",
  "violations",
  "expectViolation",
  "settle",
  "online",
  "waitOnline",
  "pending",
  "stop",
] as const satisfies (keyof Simulator)[];

/** Methods that answer with a handle; over HTTP only its names travel. */
const HANDLE_METHODS = [
  "addNumber",
  "addContact",
  "changeNumber",
  "number",
  "contact",
] as const satisfies (keyof Simulator)[];

/** Every fault, as `faults.<name>` over HTTP. */
export const FAULT_METHODS = [
  "dropBeforeReceipt",
  "dropAfterReceipt",
  "close",
  "delayAcks",
  "holdAcks",
  "releaseAcks",
  "duplicateStanzas",
  "streamError",
  "refuseLinkingCode",
  "withholdOffline",
  "restoreOffline",
  "refuseUpgrade",
  "refuseVersions",
  "holdDeliveries",
  "releaseDeliveries",
  "dropSocket",
  "errorAck",
  "mediaStatus",
  "mediaSlow",
  "mediaBroken",
  "mediaGone",
  "rateOverlimit",
  "reachoutTimelock",
  "newChatQuota",
  "reencryptStanzas",
  "redeliver",
  "reorderStanzas",
  "placeholders",
  "clockSkew",
  "halfOpen",
  "endHalfOpen",
  "deaf",
  "endDeaf",
  "slowFrames",
  "packFrames",
  "splitFrames",
  "truncateFrame",
  "corruptFrame",
  "unansweredIqs",
  "badMessageTimes",
  "badReceiptTimes",
  "moveEdges",
  "clear",
] as const satisfies (keyof SimulatorFaults)[];

type Callable = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** Calls a method by its name. @throws for a name that is not in the tables above */
export async function callMethod(simulator: Simulator, method: string, given: unknown[]): Promise<unknown> {
  // JSON has no undefined: an argument that the caller left out arrives as null.
  const args = given.map((argument) => argument ?? undefined);
  const fault = method.startsWith("faults.") ? method.slice("faults.".length) : undefined;
  if (fault !== undefined && (FAULT_METHODS as readonly string[]).includes(fault)) {
    return await (simulator.faults as unknown as Callable)[fault]!(...args);
  }
  const callable = simulator as unknown as Callable;
  // The answer must be sent before the server that sends it is closed.
  if (method === "stop") return setImmediate(() => void simulator.stop()) && undefined;
  if ((PLAIN_METHODS as readonly string[]).includes(method)) return await callable[method]!(...args);
  if ((HANDLE_METHODS as readonly string[]).includes(method)) {
    const { number, jid, lid } = (await callable[method]!(...args)) as NumberHandle | ContactHandle;
    return { number, jid, lid };
  }
  throw new Error(`no method ${method}`);
}
