import { GatewayError } from "../model/errors/errors.ts";
import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { SECOND_MS } from "../model/time.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import {
  NoStateKey,
  ProfileRefused,
  ProfileUnanswered,
  type OwnProfile,
  type ProfileChange,
} from "../whatsapp/port/profile.ts";
import { connected } from "./connected.ts";
import { PACES, tooOften, type Paces } from "./paces.ts";

export type { OwnProfile, ProfileChange } from "../whatsapp/port/profile.ts";

/**
 * What numbers show of themselves, at whichever node.
 *
 * @throws UNAVAILABLE while the number is not connected, or its phone has not given it what names are written with; RATE_LIMITED;
 *   WHATSAPP_REFUSED
 */
export interface OwnProfiles {
  /** Asked of WhatsApp now. */
  read(deviceId: number): Promise<OwnProfile>;
  /** Each field is a change; a request that would exceed what {@link PACES} has for an hour is refused whole. */
  change(deviceId: number, change: ProfileChange): Promise<null>;
}

interface OwnProfilesDeps {
  cluster: Cluster;
  paces: Paces;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "profile"> | null;
}

/** WhatsApp does not say for how long. */
const REFUSED_S = 300;
const READ = defineQuestion<null, OwnProfile>("directory.profile", 20 * SECOND_MS);
const CHANGE = defineQuestion<ProfileChange, null>("directory.change-profile", 60 * SECOND_MS);

/** Whichever node is asked, the number's own one does it. */
export function createOwnProfiles({ cluster: { bus }, paces, connection }: OwnProfilesDeps): OwnProfiles {
  bus.answer(READ, (deviceId) => inWords(() => connected(connection(deviceId)).profile.read()));
  bus.answer(CHANGE, async (deviceId, change) => {
    const { profile } = connected(connection(deviceId));
    const waitMs = await paces.take(deviceId, "profile", Object.keys(change).length);
    if (waitMs > 0) throw tooOften(`A number changes its profile at most ${PACES.profile.words}.`, waitMs);
    await inWords(() => profile.change(change));
    return null;
  });
  return {
    read: (deviceId) => bus.ask(READ, deviceId, null),
    change: (deviceId, change) => bus.ask(CHANGE, deviceId, change),
  };
}

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProfileRefused) throw refusal(error.code);
    if (error instanceof NoStateKey)
      throw new GatewayError(
        "UNAVAILABLE",
        "The phone has not yet let this gateway change the name. Open WhatsApp on it.",
        {
          retryAfter: 60,
        },
      );
    if (error instanceof ProfileUnanswered)
      throw new GatewayError("UNAVAILABLE", "WhatsApp did not answer. Try again soon.", { retryAfter: 5 });
    throw error;
  }
}

function refusal(code: number): GatewayError {
  if (code === 429)
    return new GatewayError(
      "RATE_LIMITED",
      "WhatsApp wants fewer changes of the profile. Wait five minutes.",
      {
        retryAfter: REFUSED_S,
      },
    );
  return new GatewayError("WHATSAPP_REFUSED", `WhatsApp refused with error ${code}.`, {
    extra: { whatsapp_code: code },
  });
}
