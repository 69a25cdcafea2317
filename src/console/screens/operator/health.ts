/** `GET /admin/health`: sizes in bytes, null where it is not known. */
export interface Health {
  version: string;
  node: string;
  whatsapp_version: { version: string; refused: boolean };
  started_at: string;
  uptime_seconds: number;
  accounts: number | null;
  numbers: { total: number; by_state: Record<string, number> };
  queues: {
    measured_at: string;
    inbox: Queue;
    outbox: Queue;
    deliveries: { pending: number | null; retrying: number | null; dead: number | null };
  };
  stalls: { longest_ms: number; latest: { at: string; ms: number; bots: string[] }[] };
  storage: Record<"database_bytes" | "media_bytes" | "free_bytes" | "total_bytes", number | null> & {
    measured_at: string | null;
  };
  backup: { at: string; bytes: number } | null;
  retention: {
    days: number;
    started_at: string | null;
    ended_at: string | null;
    next_at: string | null;
    failed: boolean;
  };
  nodes: Node[];
}

export interface Queue {
  waiting: number;
  oldest_at: string | null;
}

export interface Node {
  node: string;
  partitions: number;
  numbers: number;
  lag_ms: number;
  version: string;
  since: string;
}

const KIB = 1024;
const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A size as people write it: `1.4 GB`. */
export function sizeText(bytes: number, locale: string): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(KIB)));
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: UNITS[power]!,
    unitDisplay: "short",
    maximumFractionDigits: power < 2 ? 0 : 1,
  }).format(bytes / KIB ** power);
}
