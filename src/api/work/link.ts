import { mayUseNumber } from "../../accounts/authorize.ts";
import type { Caller } from "../../accounts/caller.ts";
import type { DeviceRecord, LinkStatus } from "../../numbers/numbers.ts";
import { JsonResult } from "../answers/envelope.ts";
import { senderNotFound } from "../access/senders.ts";
import type { App } from "../services.ts";

/**
 * The number to link, registered when it is new.
 *
 * @throws SENDER_NOT_FOUND outside the key's `devices`; PLAN_LIMIT
 */
export async function findOrRegister(app: App, caller: Caller, number: string): Promise<DeviceRecord> {
  if (!mayUseNumber(caller, number)) throw senderNotFound("device");
  return app.numbers.find(caller.accountId, number) ?? app.numbers.register(caller.accountId, number);
}

/**
 * The answers of `/generate-qr`. `status` is true only once there is nothing left to scan.
 *
 * @param mpwaCompat in the words that clients of MPWA look for
 */
export function linkResult(device: string, link: LinkStatus, mpwaCompat: boolean): JsonResult {
  switch (link.state) {
    case "processing":
      return new JsonResult(
        { state: link.state },
        { status: mpwaCompat ? "processing" : false, message: "Processing" },
      );
    case "qr": {
      const { state, qr, qrcode } = link;
      const message = mpwaCompat ? "Please scann qrcode" : "Please scan the QR code";
      return new JsonResult(
        { state, qrcode, qr, expires_in: seconds(link.expiresInMs) },
        { status: false, message },
      );
    }
    case "code":
      return new JsonResult(
        { state: link.state, code: link.code, expires_in: seconds(link.expiresInMs) },
        { status: false, message: "Enter this code on the phone: Linked devices, Link with phone number" },
      );
    case "passkey": {
      const { state, passkey } = link;
      const expires_in = Math.min(600, seconds(link.expiresInMs));
      return new JsonResult(
        { state, device, passkey, expires_in },
        { status: false, message: PASSKEY_ASKED },
      );
    }
    case "action_required": {
      const { state, reason } = link;
      return new JsonResult({ state, reason, device }, { status: false, message: ACTIONS[reason] });
    }
    case "connected":
      return new JsonResult(
        { state: link.state, device },
        { status: !mpwaCompat, message: ALREADY_CONNECTED },
      );
    case "connecting":
      return new JsonResult(
        { state: link.state, device },
        mpwaCompat
          ? { status: false, message: ALREADY_CONNECTED }
          : { message: "Device already linked, reconnecting" },
      );
  }
}

const PASSKEY_ASKED =
  "WhatsApp asks for the passkey of this account: answer with POST /devices/{number}/passkey";
const ACTIONS = {
  passkey:
    "WhatsApp asks for the passkey of this account, and passkeys are off at this gateway: see /devices/{number}/why",
  version: "WhatsApp refuses the version of this gateway's client: see /devices/{number}/why",
};
const ALREADY_CONNECTED = "Device already connected!";
const seconds = (milliseconds: number): number => Math.max(0, Math.floor(milliseconds / 1000));
