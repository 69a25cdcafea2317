/** Why a Signal operation failed. */
type SignalErrorReason =
  | "no_session"
  | "bad_mac"
  | "duplicate"
  | "too_far_ahead"
  | "malformed"
  | "invalid_prekey"
  | "invalid_signed_prekey"
  | "bad_signature"
  | "no_sender_key";

/** A refusal of the Signal layer. State is unchanged whenever it is thrown. */
export class SignalError extends Error {
  readonly reason: SignalErrorReason;

  constructor(reason: SignalErrorReason, message: string) {
    super(message);
    this.name = "SignalError";
    this.reason = reason;
  }
}

/** The message was decrypted before. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof SignalError && error.reason === "duplicate";
}
