/** What `/generate-qr` answers, as far as linking needs it. */
interface LinkAnswer {
  state?: string;
  qr?: string;
}

/**
 * Links as a person does, who looks at the screen until it says that the number is connected, and holds the phone before each QR
 * code once: a code may be old by the time it is scanned, on a busy machine or when the number moves to another node.
 *
 * @returns to be called with each answer to `/generate-qr`: whether the number is connected
 * @throws what the service said of a scan; the next code may do
 */
export function scanning(owner: {
  scan(qr: string): Promise<unknown>;
}): (answer: LinkAnswer) => Promise<boolean> {
  let scanned: string | undefined;
  return async ({ state, qr }) => {
    if (state === "qr" && qr !== undefined && qr !== scanned) {
      scanned = qr;
      await owner.scan(qr);
    }
    return state === "connected";
  };
}
