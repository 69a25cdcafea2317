import type { Authenticator } from "../authenticator.ts";
import type { Receiver } from "../receiver.ts";
import { NUMBER } from "../services.ts";
import type { Simulator } from "../../simulator/types.ts";
import { FAULTS, type FaultName } from "./view.ts";

/** Switches for what can go wrong. */
export interface Faults {
  state(): Record<FaultName, boolean>;
  /** @throws Error when it cannot be switched now: the number is not linked */
  set(name: FaultName, on: boolean): Promise<void>;
}

/** What the switches act on. */
interface Needs {
  simulator: Pick<Simulator, "faults" | "requirePasskey" | "companions">;
  receiver: Pick<Receiver, "refuse">;
  authenticator: Authenticator;
}

const SLOW_BYTES_PER_SECOND = 800;
/** WhatsApp takes nothing that has this code; it is tried once more and then fails. */
const REFUSED_CODE = 479;
const target = { number: NUMBER };

/** All off. */
export function createFaults({ simulator, receiver, authenticator }: Needs): Faults {
  const { faults } = simulator;
  const state = Object.fromEntries(FAULTS.map((name) => [name, false])) as Record<FaultName, boolean>;
  /** These act on a line that must be there. */
  const linked = async (): Promise<void> => {
    if ((await simulator.companions(NUMBER)).length === 0)
      throw new Error("The number is not linked yet: scan the QR code first.");
  };
  const turn: Record<FaultName, (on: boolean) => Promise<void>> = {
    async slow(on) {
      await linked();
      await faults.slowFrames({
        ...target,
        bytesPerSecond: on ? SLOW_BYTES_PER_SECOND : 0,
        pieceBytes: 80,
      });
    },
    async backlog(on) {
      await linked();
      if (on) return faults.holdDeliveries(target);
      // Whoever comes back is given what has waited, in windows; on a line that stands it would all come at once.
      await faults.dropSocket(target);
      await faults.releaseDeliveries(target);
    },
    async refused(on) {
      await faults.errorAck({ ...target, code: REFUSED_CODE, times: on ? Number.MAX_SAFE_INTEGER : 0 });
    },
    async webhook(on) {
      receiver.refuse(on);
    },
    async passkey(on) {
      await simulator.requirePasskey(NUMBER, on ? authenticator.passkey : null);
    },
  };
  return {
    state: () => ({ ...state }),
    async set(name, on) {
      if (state[name] === on) return;
      await turn[name](on);
      state[name] = on;
    },
  };
}
