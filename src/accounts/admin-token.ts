import { timingSafeEqual } from "node:crypto";
import type { Store } from "../store/store.ts";

type Secrets = Pick<Store, "box" | "adminToken">;

const digest = ({ box }: Secrets, text: string): Buffer => box.hmac("admin-token", text);

/** Takes the same time for every token of the same length, right or wrong. */
export function isAdminToken(store: Secrets, token: string): boolean {
  return timingSafeEqual(digest(store, token), digest(store, store.adminToken));
}

/** What is kept of the operator's token by those who were let in by it: another token has another one. Hex. */
export const adminTokenHash = (store: Secrets): string => digest(store, store.adminToken).toString("hex");
