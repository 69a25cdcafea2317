import type { Random } from "../../random.ts";
import type { Time } from "../../time.ts";
import { bytes, child, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { listedDevices, userJid } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import type { World } from "../../world/world.ts";
import type { Deliveries, Stamps } from "../ports.ts";

/** Seconds of a bucket, and how many of them a token holds. Sources: whatsmeow `tctoken.go`, whatsapp-rust `iq/tctoken.rs`. */
const BUCKET = 604_800;
const BUCKETS = 4;
const TOKEN_BYTES = 12;

interface Needs extends Stamps, Deliveries {
  world: Pick<World, "privacyTokens">;
  time: Time;
  random: Random;
}

/** What people give to those who may write to them (`trusted_contact`). */
export interface PrivacyTokens {
  /** Makes a token and passes it on to the other side's devices. @param t Unix seconds, as the giver says */
  give(giver: Account, to: Account, t: number): void;
  /** Whether a message may go to somebody: who demands a token wants the last that was given, as long as it holds. */
  allows(sender: Account, partner: Account, message: BinaryNode): boolean;
}

/** Nobody has given any yet. */
export function createPrivacyTokens(needs: Needs): PrivacyTokens {
  const given = needs.world.privacyTokens;
  const oldest = (): number => (Math.floor(needs.time.now() / 1000 / BUCKET) - BUCKETS + 1) * BUCKET;
  return {
    give(giver, to, t) {
      const name = `${giver.number} ${to.number}`;
      const token = needs.random.fork(`token:${name}:${t}:${given.size}`).bytes(TOKEN_BYTES);
      given.set(name, { token, t });
      for (const device of listedDevices(to)) {
        const attrs = { jid: device.pn, type: "trusted_contact", t: String(t) };
        needs.deliver(device, notification(needs, giver, element("token", attrs, token)));
      }
    },
    allows(sender, partner, message) {
      if (!partner.demandsToken) return true;
      const { token, t } = given.get(`${partner.number} ${sender.number}`) ?? {};
      return (
        token !== undefined && t! >= oldest() && token.equals(bytes(child(message, "tctoken")) ?? Buffer.of())
      );
    },
  };
}

function notification({ nextId, now }: Stamps, giver: Account, token: BinaryNode): BinaryNode {
  const lid = userJid(giver, "lid");
  const from = giver.hidesNumber ? { from: lid } : { from: userJid(giver, "pn"), sender_lid: lid };
  const attrs = { ...from, type: "privacy_token", id: nextId(), t: now() };
  return element("notification", attrs, [element("tokens", {}, [token])]);
}
