import type { Caller } from "../../accounts/caller.ts";
import type { OwnProfile } from "../../directory/profiles.ts";
import type { DeviceRecord } from "../../numbers/numbers.ts";
import { findDevice, requireLinked } from "../access/senders.ts";
import { whileCallerWaits } from "./files/caller-waits.ts";
import type { App } from "../services.ts";

interface Asking {
  app: App;
  caller: Caller;
  event: { req: { signal: AbortSignal } };
  params: Record<string, string>;
}

/** What a number shows of itself. @throws NOT_FOUND, SENDER_NOT_CONNECTED, and what `OwnProfiles` throws */
export async function readProfile({ app, caller, params }: Asking) {
  const device = findDevice(app, caller, params["number"]);
  requireLinked(app, device);
  return { data: profileView(device, await app.ownProfiles.read(device.id)) };
}

/** Changes it; the picture is fetched before anything is changed. @throws as {@link readProfile}, and what fetching a file throws */
export async function changeProfileOf(
  call: Asking & {
    input: { name?: string | undefined; about?: string | undefined; picture_url?: string | undefined };
  },
) {
  const { app, caller, params, input } = call;
  const { name, about, picture_url: url } = input;
  const device = findDevice(app, caller, params["number"]);
  requireLinked(app, device);
  const picture = await pictureAt(call, device.id, url);
  const change = {
    ...(name !== undefined && { name }),
    ...(about !== undefined && { about }),
    ...(picture !== undefined && { picture }),
  };
  if (Object.keys(change).length > 0) await app.ownProfiles.change(device.id, change);
  return { data: profileView(device, await app.ownProfiles.read(device.id)) };
}

/**
 * A picture as WhatsApp takes it for people and groups.
 *
 * @param url "" takes the picture away
 * @returns JPEG in base64; undefined when none is named
 */
export async function pictureAt(
  { app, event }: Pick<Asking, "app" | "event">,
  deviceId: number,
  url: string | undefined,
): Promise<string | undefined> {
  if (url === undefined || url === "") return url;
  const picture = await whileCallerWaits(event.req.signal, (signal) =>
    app.files.profilePicture({ deviceId, url, signal }),
  );
  return picture.toString("base64");
}

const profileView = ({ number }: DeviceRecord, { name, about, pictureUrl }: OwnProfile) => ({
  device: number,
  name,
  about,
  picture_url: pictureUrl,
});
