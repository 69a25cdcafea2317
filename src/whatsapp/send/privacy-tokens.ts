import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { baileys, tokenRules } from "../baileys.ts";

/** What a contact has given this number for messages to it, and what it gets in return. */
export interface PrivacyToken {
  /** Goes with a message; null when there is none that holds, or WhatsApp does not ask for it. */
  node: BinaryNode | null;
  /** Gives the contact a token of ours, at most once a week. Call it when a message has left; does not wait for anything. */
  giveOurs(): void;
}

/** Privacy tokens of one connection. */
export interface PrivacyTokens {
  /**
   * @param jid address of a person
   * @param lid of that person, where it is known
   */
  of(jid: string, lid: string | null): Promise<PrivacyToken>;
}

interface Entry {
  token: Uint8Array;
  timestamp?: string;
  /** When ours was given last, Unix seconds. */
  senderTimestamp?: number;
}

/** What Baileys does in `relayMessage` (7.0.0-rc14), where what it notes behind the end of its transaction is lost. */
export function createPrivacyTokens(socket: WASocket, time: Pick<Time, "now">): PrivacyTokens {
  const { keys } = socket.authState;
  const { lidMapping } = socket.signalRepository;
  const lidOf = (pn: string): Promise<string | null> => lidMapping.getLIDForPN(pn);
  const inFlight = new Set<string>();

  async function give(jid: string, storedAs: string): Promise<void> {
    const at = Math.floor(time.now() / SECOND_MS);
    const { lidTrustedTokenIssueToLid: toLid } = socket.serverProps;
    const to = await tokenRules.resolveIssuanceJid(jid, toLid, lidOf, (lid) => lidMapping.getPNForLID(lid));
    const result = (await socket.issuePrivacyTokens([to], at)) as BinaryNode | undefined;
    if (result === undefined) return;
    failpoint("after-token-given");
    await tokenRules.storeTcTokensFromIqResult({ result, fallbackJid: storedAs, keys, getLIDForPN: lidOf });
    const { [storedAs]: entry } = await keys.get("tctoken", [storedAs]);
    const noted = { token: Buffer.alloc(0), ...entry, senderTimestamp: at };
    await keys.set({ tctoken: { [storedAs]: noted } });
  }

  return {
    async of(jid, lid) {
      const storedAs = lid ?? jid;
      const entry = (await keys.get("tctoken", [storedAs]))[storedAs] as Entry | undefined;
      const holds = entry?.token.length && !tokenRules.isTcTokenExpired(entry.timestamp);
      const wanted = socket.serverProps.privacyTokenOn1to1;
      return {
        node: holds && wanted ? { tag: "tctoken", attrs: {}, content: entry.token } : null,
        giveOurs() {
          if (!tokenRules.shouldSendNewTcToken(entry?.senderTimestamp) || inFlight.has(storedAs)) return;
          if (baileys.isJidBot(jid) || baileys.isJidMetaAI(jid)) return;
          inFlight.add(storedAs);
          // A contact that gets none today gets one with the next message.
          void give(jid, storedAs)
            .catch(() => undefined)
            .finally(() => inFlight.delete(storedAs));
        },
      };
    },
  };
}
