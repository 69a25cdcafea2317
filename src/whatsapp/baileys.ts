import { patchLibsignal } from "./signal/libsignal.ts";
import { reviveSkippedSenderKeys } from "./signal/skipped-sender-keys.ts";

await patchLibsignal();

/**
 * Baileys, imported after libsignal is patched. A plain `import` would not do: a build puts the imports of external
 * packages before all code of its own.
 */
export const baileys = await import("@whiskeysockets/baileys");

const { SenderKeyState } = await import("@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js");
reviveSkippedSenderKeys(SenderKeyState);
