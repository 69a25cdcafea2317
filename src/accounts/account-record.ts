/** An account as it is stored: `plan` is one of the names in `PLAN_NAMES`, `createdAt` milliseconds since 1970. */
export interface AccountRecord {
  id: string;
  name: string;
  plan: string;
  enabled: boolean;
  createdAt: number;
}

/** @param row with the columns of the table `accounts` */
export function toAccount(row: Record<string, unknown>): AccountRecord {
  return {
    id: String(row.id),
    name: String(row.name),
    plan: String(row.plan),
    enabled: row.enabled === 1,
    createdAt: Number(row.created_at),
  };
}
