import type { BusinessProfile, PrivacyName } from "../surface/profiles.ts";
import type { Account, Device } from "./accounts.ts";

/** What is shown of an account besides its name, and to whom. */
export interface Profile {
  readonly privacy: Map<PrivacyName, string>;
  /** Numbers of those who are blocked, in the order of blocking. */
  readonly blocked: Set<string>;
  picture: Picture | undefined;
  business: BusinessProfile | undefined;
  /** The text under the name. */
  status: string;
  /** Devices on which somebody has the app open. */
  readonly available: Set<Device>;
  /** When there was last one, Unix seconds; undefined: never. */
  seenAt: number | undefined;
  /** Devices that asked to be told of it, and by which address. */
  readonly observers: Map<Device, "pn" | "lid">;
}

/** A picture of a person or a group. */
export interface Picture {
  id: string;
  directPath: string;
  /** SHA-256 of the file, base64. */
  hash: string;
}

/** As the service gives them to a new account. */
const PRIVACY: readonly [PrivacyName, string][] = [
  ["readreceipts", "all"],
  ["profile", "all"],
  ["status", "all"],
  ["online", "all"],
  ["last", "all"],
  ["groupadd", "all"],
  ["calladd", "all"],
  ["messages", "all"],
];

/** Profiles by number; one is made when it is first looked at. Pure state, no traffic. */
export class Profiles {
  readonly #profiles = new Map<string, Profile>();

  /** The profile of an account, if anything was ever made of it. */
  known(number: string): Profile | undefined {
    return this.#profiles.get(number);
  }

  /** Whether one has blocked the other. */
  blocks(account: Account, other: Account): boolean {
    return this.#profiles.get(account.number)?.blocked.has(other.number) === true;
  }

  of(number: string): Profile {
    const known = this.#profiles.get(number);
    if (known) return known;
    const profile: Profile = {
      privacy: new Map(PRIVACY),
      blocked: new Set(),
      picture: undefined,
      business: undefined,
      status: "",
      available: new Set(),
      seenAt: undefined,
      observers: new Map(),
    };
    this.#profiles.set(number, profile);
    return profile;
  }
}
