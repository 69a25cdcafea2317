import { defineQuestion, defineTopic } from "../model/nodes/cluster.ts";
import { SECOND_MS } from "../model/time.ts";
import type { PasskeyAssertion, PasskeyStep } from "../model/passkey.ts";
import type { DeviceRecord } from "./device-record.ts";
import type { LinkStatus } from "./number-life.ts";
import type { Why } from "./why.ts";

/** The row of this number is another one, or gone. Null: there is a new one. */
export const NUMBER_CHANGED = defineTopic<number | null>("numbers");

/** What an owner sets anew; what is left out stays. The proxy is sealed, in base64: nobody on the way reads its password. */
export type SettingsChange = Partial<Pick<DeviceRecord, "calls" | "callsText">> & { proxy?: string | null };

/** What only the process can answer in which the number lives. */
export const LINK = defineQuestion<{ force: boolean; method: "qr" | "code" }, LinkStatus>(
  "numbers.link",
  6 * SECOND_MS,
);
export const LOG_OUT = defineQuestion<null, null>("numbers.logout", 20 * SECOND_MS);
export const CHANGE = defineQuestion<SettingsChange, null>("numbers.change", 12 * SECOND_MS);
export const REMOVE = defineQuestion<null, null>("numbers.remove", 30 * SECOND_MS);
export const WHY = defineQuestion<null, Why | null>("numbers.why", 4 * SECOND_MS);
export const ANSWER_PASSKEY = defineQuestion<PasskeyAssertion, PasskeyStep>(
  "numbers.passkey",
  40 * SECOND_MS,
);
export const CONFIRM_PASSKEY = defineQuestion<null, PasskeyStep>("numbers.confirm", 40 * SECOND_MS);
