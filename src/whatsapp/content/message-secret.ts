import type { SecretBox } from "../../store/store.ts";

/** A message's own secret (32 bytes), made from its id: it is known before the send and after every restart. */
export const messageSecret = (box: Pick<SecretBox, "hmac">, waId: string): Buffer =>
  box.hmac("message-secret", waId);
