import { restWithoutTransactions } from "./signal/idle-transactions.ts";
import { loadLibsignal, loadWhisperMessages, patchLibsignal } from "./signal/libsignal.ts";
import { reviveSkippedSenderKeys } from "./signal/skipped-sender-keys.ts";

await patchLibsignal();
restWithoutTransactions();

/**
 * Baileys, imported after libsignal is patched. A plain `import` would not do: a build puts the imports of external
 * packages before all code of its own.
 */
export const baileys = await import("@whiskeysockets/baileys");

const { SenderKeyState } = await import("@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js");
reviveSkippedSenderKeys(SenderKeyState);

/** libsignal itself, the one that Baileys uses. */
export const libsignal = loadLibsignal();

/** The codec of its messages. */
export const whisperMessages = loadWhisperMessages();

/** What the package does not export by name: rules for privacy tokens, and the token that lets a message be reported. */
export const tokenRules = await import("@whiskeysockets/baileys/lib/Utils/tc-token-utils.js");
/** Makes the token that a message carries so that its receiver can report it. */
export const reporting = await import("@whiskeysockets/baileys/lib/Utils/reporting-utils.js");
