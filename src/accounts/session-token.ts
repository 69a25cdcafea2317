import { randomBytes } from "node:crypto";

/** 256 random bits: nobody guesses one, so that a hash without salt is enough to keep. */
const BYTES = 32;
const SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** The secret of a session's cookie, or of a link: 43 characters that need no escaping. */
export const makeToken = (): string => randomBytes(BYTES).toString("base64url");

/** Whether a text may be one. Says nothing about whether it is. */
export const isToken = (text: string): boolean => SHAPE.test(text);
