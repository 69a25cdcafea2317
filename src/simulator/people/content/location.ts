import type { proto } from "@whiskeysockets/baileys";
import type { LocationContent } from "../../surface/content.ts";
import { contextOf, readContext } from "./context.ts";
import type { Desk, Extras } from "./context.ts";
import type { ContentKind } from "./kind.ts";

/** A place on the map. */
export function composeLocation(content: LocationContent, _: Desk, extras: Extras): proto.IMessage {
  const { latitude: degreesLatitude, longitude: degreesLongitude, name, address } = content;
  const contextInfo = contextOf(extras);
  return { locationMessage: { degreesLatitude, degreesLongitude, name, address, contextInfo } };
}

/** `locationMessage` and `liveLocationMessage`. */
export const location: ContentKind = {
  stanzaType: "text",
  read(message) {
    const place = message.locationMessage ?? message.liveLocationMessage;
    if (!place) return undefined;
    const { name, address } = message.locationMessage ?? {};
    return {
      kind: "location",
      location: {
        latitude: place.degreesLatitude ?? 0,
        longitude: place.degreesLongitude ?? 0,
        name: name ?? undefined,
        address: address ?? undefined,
      },
      ...readContext(place.contextInfo),
    };
  },
};
