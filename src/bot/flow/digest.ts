import { hash } from "node:crypto";

/** What stands for a text where only a change of it counts. */
export const digest = (text: string): string => hash("sha256", text, "hex").slice(0, 32);

/** Digest of `of`; undefined: it depends on nothing. */
export const digestOf = (of: unknown): string | undefined =>
  of === undefined ? undefined : digest(JSON.stringify(of) ?? "undefined");
