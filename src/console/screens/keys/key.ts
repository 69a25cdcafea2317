/** A key as `GET /api-keys` lists it; of one that may do more than the caller's only `id`, `name` and `prefix`. */
export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  permissions?: string[];
  devices?: string[] | null;
  recipients?: string[] | null;
  expires_at?: string | null;
  created_at?: string;
  last_used_at?: string | null;
}

/** Everything that a key can be allowed, but `*`. */
export const PERMISSIONS = [
  "messages",
  "media",
  "polls",
  "groups",
  "groups_admin",
  "lid",
  "channels",
  "qr",
  "devices",
  "webhooks",
  "bots",
  "keys",
] as const;
