/** What WhatsApp asks the owner's browser for, as `navigator.credentials.get({publicKey})` takes it; bytes in base64url. */
export interface PasskeyRequest {
  challenge: string;
  rpId: string;
  /** Milliseconds. */
  timeout: number;
  allowCredentials: { id: string; type: string; transports: string[] }[];
  userVerification: string;
  extensions: Record<string, unknown>;
}

/** What the browser answered; bytes in base64url without padding. */
export interface PasskeyAssertion {
  id: string;
  rawId: string;
  type: "public-key";
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null;
  };
}

/** What follows from an assertion that WhatsApp has accepted: it goes on by itself, or after a code was compared (`XXXX-XXXX`). */
export type PasskeyStep = { state: "linking" } | { state: "confirm"; code: string };

/** Why a linking ended that would have needed a passkey; it stands as the reason of the closed connection. */
export const PASSKEY_WANTED = "WhatsApp asks for the passkey of this account";
