/** Bytes as an answer, instead of JSON. */
export interface Bytes {
  bytes: Uint8Array;
}
/** An answer that sets a cookie. */
export interface WithCookie {
  cookies: string[];
  body: unknown;
}
