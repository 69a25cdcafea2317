/** Where scheduled backups lie: a folder or a bucket. Every method rejects in words for the operator. */
export interface BackupPlace {
  /** For people; holds no secret. */
  readonly shown: string;
  /** Writes an archive that does not count yet. @returns its bytes */
  put(name: string, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Reads back what was put. */
  read(name: string, read: (chunks: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void>;
  /** It was verified: from now on it counts. */
  keep(name: string): Promise<void>;
  /** It failed: nothing of it stays. */
  discard(name: string): Promise<void>;
  /** Names of what counts, and of files that are none of ours. */
  list(): Promise<string[]>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}
