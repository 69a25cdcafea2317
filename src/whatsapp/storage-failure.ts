import { StorageUnavailable } from "../store/errors.ts";

/**
 * Is it the database that failed, reading or writing? What was received must then not be acknowledged in any form; after
 * any other error the message itself is at fault, and would fail again however often it came.
 */
export function isStorageFailure(error: unknown): boolean {
  if (error instanceof StorageUnavailable) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" && code.startsWith("SQLITE_");
}
