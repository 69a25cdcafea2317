import { setTimeout as pause } from "node:timers/promises";
import { GatewayRefusal, type GatewayClient } from "../../cli/gateway-client.ts";
import type { PasskeyRequest, PasskeyStep } from "../../model/passkey.ts";
import type { Simulator } from "../../simulator/types.ts";
import type { Authenticator } from "../authenticator.ts";
import { readQrImage } from "../scan-qr-image.ts";
import { NUMBER } from "../services.ts";
import type { NumberView } from "./view.ts";

/** How the number comes to the gateway, and goes. */
export interface Linking {
  state(): Omit<NumberView, "digits" | "name">;
  /** A QR code is asked for, until the number is connected. */
  want(): void;
  /** The owner's phone scans the code that is shown. @throws Error when there is none */
  scan(): Promise<void>;
  /** The owner proves by the passkey that it is there. @throws Error when nobody asks */
  answerPasskey(): Promise<void>;
  /** The owner removes the gateway on the phone. */
  unlink(): Promise<void>;
  end(): void;
}

interface Needs {
  simulator: Pick<Simulator, "scan" | "companions" | "logoutCompanion" | "passkeyCode">;
  gateway: GatewayClient;
  authenticator: Authenticator;
  /** Called when something has changed. */
  onChange(): void;
  /** Called when the number is connected, each time. */
  onConnected(): void;
  /** A scan failed on the phone. */
  onTrouble(text: string): void;
}

interface LinkAnswer {
  state: string;
  qrcode?: string;
  qr?: string;
  passkey?: PasskeyRequest;
}

const LOOK_EVERY_MS = 400;
/** While nothing is expected to change. */
const CALM_MS = 1_500;
const AWAY: Omit<NumberView, "digits" | "name"> = {
  state: null,
  advice: null,
  qr: null,
  passkey: false,
};

/** Asks the gateway again and again how the number stands, as a page that shows a QR code does. */
export function createLinking(needs: Needs): Linking {
  const { simulator, gateway, authenticator } = needs;
  let shown = AWAY;
  let isWanted = true;
  let request: PasskeyRequest | null = null;
  const ended = new AbortController();

  const show = (next: typeof shown): void => {
    const before = shown;
    shown = next;
    if (JSON.stringify(before) !== JSON.stringify(next)) needs.onChange();
    if (next.state === "connected" && before.state !== "connected") needs.onConnected();
  };
  const look = async (): Promise<void> => {
    let answer: LinkAnswer | null = null;
    if (isWanted) answer = await gateway.post<LinkAnswer>("/generate-qr", { device: NUMBER });
    if (answer?.state === "connected") isWanted = false;
    request = answer?.passkey ?? null;
    const { data } = await gateway.get<{ data: { state: string; advice?: string } }>(
      `/devices/${NUMBER}/why`,
    );
    show({
      state: data.state,
      advice: data.advice ?? null,
      qr: answer?.qrcode ?? null,
      passkey: request !== null,
    });
  };
  const follow = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      // A gateway that was killed, or is not asked for a code yet, answers nothing of use: it is asked again.
      await look().catch((error: unknown) => {
        if (!(error instanceof GatewayRefusal)) show(AWAY);
        else if (error.status === 404) show({ ...AWAY, state: "unlinked" });
      });
      await pause(shown.state === "connected" ? CALM_MS : LOOK_EVERY_MS, undefined, {
        signal: ended.signal,
      }).catch(() => {});
    }
  };
  void follow();
  return {
    state: () => shown,
    want() {
      isWanted = true;
    },
    async scan() {
      if (shown.qr === null) throw new Error("The gateway shows no QR code now. Ask for one first.");
      const { text } = readQrImage(shown.qr);
      // It ends only when the linking does, which may wait for a passkey.
      void simulator.scan(NUMBER, text).catch((error: Error) => needs.onTrouble(error.message));
    },
    async answerPasskey() {
      if (request === null) throw new Error("WhatsApp is not asking for a passkey now.");
      const assertion = authenticator.assert(request);
      const step = await gateway.post<PasskeyStep>(`/devices/${NUMBER}/passkey`, { assertion });
      if (step.state !== "confirm") return;
      const { code } = await simulator.passkeyCode(NUMBER);
      if (code !== step.code) throw new Error(`The phone shows ${code}, but the gateway shows ${step.code}.`);
      await gateway.post(`/devices/${NUMBER}/passkey/confirm`);
    },
    async unlink() {
      isWanted = false;
      for (const { device } of await simulator.companions(NUMBER))
        await simulator.logoutCompanion(NUMBER, device);
    },
    end: () => ended.abort(),
  };
}
