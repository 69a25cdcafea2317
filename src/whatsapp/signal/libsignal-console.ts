interface SessionEntry {
  indexInfo: { closed: number };
}

interface SessionRecordClass {
  prototype: {
    sessions: Record<string, SessionEntry>;
    closeSession(session: SessionEntry): void;
    openSession(session: SessionEntry): void;
    removeOldSessions(): void;
  };
}

const MAX_SESSIONS = 40;

/** What libsignal says through `console`, by the first argument. Some of it is followed by keys. */
const NOTICES = [
  "Closing session:",
  "Opening session:",
  "Session already closed",
  "Session already open",
  "Removing old closed session:",
  "Migrating session to:",
  "V1 session storage migration error",
  "Decrypted message with closed session.",
  "Closing open session in favor of incoming prekey bundle",
  "Failed to decrypt message with any known session...",
  "Session error:",
  "WARNING: Expected pubkey of length 33",
];

/**
 * Makes libsignal silent. The methods that print session records are replaced; its remaining notices, which hold no
 * secret, are dropped on their way through `console`, because they stand in the middle of methods that stay.
 */
export function silenceLibsignal(record: SessionRecordClass): void {
  record.prototype.closeSession = (session) => {
    if (session.indexInfo.closed === -1) session.indexInfo.closed = Date.now();
  };
  record.prototype.openSession = (session) => {
    session.indexInfo.closed = -1;
  };
  record.prototype.removeOldSessions = function () {
    const closed = Object.entries(this.sessions).filter(([, session]) => session.indexInfo.closed !== -1);
    const surplus = Object.keys(this.sessions).length - MAX_SESSIONS;
    if (surplus <= 0) return;
    closed.sort(([, a], [, b]) => a.indexInfo.closed - b.indexInfo.closed);
    for (const [key] of closed.slice(0, surplus)) delete this.sessions[key];
  };
  for (const level of ["info", "warn", "error"] as const) dropNotices(level);
}

function dropNotices(level: "info" | "warn" | "error"): void {
  const print = console[level].bind(console);
  console[level] = (...args: unknown[]) => {
    const [first] = args;
    if (typeof first === "string" && NOTICES.some((notice) => first.startsWith(notice))) return;
    print(...args);
  };
}
