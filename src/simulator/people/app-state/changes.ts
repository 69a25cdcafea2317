/** What owners do, as entries of app state. Source: whatsmeow `appstate/encode.go`, Baileys `chatModificationToAppPatch`. */
import type { proto } from "@whiskeysockets/baileys";
import type { AppStateChange, CollectionName } from "../../surface/app-state.ts";
import type { Change } from "./codec.ts";

/** A change with its addresses as they stand on the wire. */
export type AddressedChange = AppStateChange & {
  /** The other address of the person, for a contact. */
  lid?: string;
};

interface Written extends Change {
  collection: CollectionName;
}

const entry = (
  collection: CollectionName,
  version: number,
  index: string[],
  value: proto.ISyncActionValue | null,
): Written => ({ collection, version, index, value });

const flag = (value: boolean): string => (value ? "1" : "0");

/** The entry that a change writes, and into which collection. */
export function entryOf(change: AddressedChange): Written {
  switch (change.kind) {
    case "archive": {
      const archiveChatAction = { archived: change.archived, messageRange: {} };
      return entry("regular_low", 3, ["archive", change.chat], { archiveChatAction });
    }
    case "mute": {
      const muteAction = { muted: change.until !== null, muteEndTimestamp: change.until ?? undefined };
      return entry("regular_high", 2, ["mute", change.chat], { muteAction });
    }
    case "pin":
      return entry("regular_low", 5, ["pin_v1", change.chat], { pinAction: { pinned: change.pinned } });
    case "star": {
      const index = ["star", change.chat, change.messageId, flag(change.fromMe), "0"];
      return entry("regular_high", 2, index, { starAction: { starred: change.starred } });
    }
    case "label": {
      const { id, name, color = 0, deleted = false } = change;
      return entry("regular", 3, ["label_edit", id], { labelEditAction: { name, color, deleted } });
    }
    case "labelChat": {
      const labelAssociationAction = { labeled: change.labeled };
      return entry("regular", 3, ["label_jid", change.id, change.chat], { labelAssociationAction });
    }
    case "contact": {
      const { name: fullName, lid: lidJid } = change;
      const contactAction = {
        fullName,
        firstName: fullName?.split(" ")[0],
        lidJid,
        saveOnPrimaryAddressbook: true,
      };
      return entry(
        "critical_unblock_low",
        2,
        ["contact", change.person],
        fullName === null ? null : { contactAction },
      );
    }
    case "deleteChat": {
      const deleteChatAction = { messageRange: {} };
      return entry("regular_high", 6, ["deleteChat", change.chat, "1"], { deleteChatAction });
    }
    case "markRead": {
      const markChatAsReadAction = { read: change.read, messageRange: {} };
      return entry("regular_low", 3, ["markChatAsRead", change.chat], { markChatAsReadAction });
    }
    case "pushName":
      return entry("critical_block", 1, ["setting_pushName"], { pushNameSetting: { name: change.name } });
  }
}
