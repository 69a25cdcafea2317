/** What a number shows of itself. */
export interface OwnProfile {
  /** Null when WhatsApp has not told it yet. */
  name: string | null;
  /** The text under the name; null when there is none. */
  about: string | null;
  /** Where the picture lies for a while; null when there is none. */
  pictureUrl: string | null;
}

/** What is to be changed of it; what is left out stays. */
export interface ProfileChange {
  name?: string;
  /** "" takes it away. */
  about?: string;
  /** JPEG in base64; "" takes it away. */
  picture?: string;
}

/** A number's own profile. Both reject with {@link ProfileRefused}, or when WhatsApp does not answer. */
export interface ProfileLine {
  read(): Promise<OwnProfile>;
  change(change: ProfileChange): Promise<void>;
}

/** WhatsApp does not take the change. */
export class ProfileRefused extends Error {
  /** WhatsApp's code: 406 for a picture that it cannot use, 429. */
  readonly code: number;

  constructor(code: number) {
    super(`WhatsApp refused the change of the profile with error ${code}.`);
    this.name = "ProfileRefused";
    this.code = code;
  }
}

/** WhatsApp did not answer, or the connection has closed. */
export class ProfileUnanswered extends Error {}

/** The phone has not yet given this companion the key that names are written with. */
export class NoStateKey extends Error {}
