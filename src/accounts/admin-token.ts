import { timingSafeEqual } from "node:crypto";
import type { Store } from "../store/store.ts";

/** Takes the same time for every token of the same length, right or wrong. */
export function isAdminToken(store: Pick<Store, "box" | "adminToken">, token: string): boolean {
  const digest = (text: string): Buffer => store.box.hmac("admin-token", text);
  return timingSafeEqual(digest(token), digest(store.adminToken));
}
