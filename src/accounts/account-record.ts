/** An account as it is stored: `plan` is one of the names in `PLAN_NAMES`, `createdAt` milliseconds since 1970. */
export interface AccountRecord {
  id: string;
  name: string;
  plan: string;
  enabled: boolean;
  createdAt: number;
}
