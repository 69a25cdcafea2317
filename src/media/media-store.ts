/** A store that every node reaches, for the files of messages: named bytes, as they lie encrypted on the disk. */
export interface MediaStore {
  /**
   * Stores a file of this disk under a name; what had the name is replaced.
   *
   * @param sha256 of the bytes, base64, when it is known: the store then checks what it got
   * @throws {MediaStoreAway} nothing is known to be stored
   */
  put(name: string, path: string, sha256?: string): Promise<void>;
  /**
   * @param read gets the bytes as they come
   * @returns false when nothing has the name
   * @throws {MediaStoreAway}, and what `read` throws
   */
  get(name: string, read: (bytes: AsyncIterable<Buffer>) => Promise<void>): Promise<boolean>;
  /** @throws {MediaStoreAway} */
  has(name: string): Promise<boolean>;
  /** What is not there counts as removed. @throws {MediaStoreAway} */
  remove(name: string): Promise<void>;
  /**
   * Names in their order, a page of at most 500.
   *
   * @param prefix what they begin with
   * @param after  the last name of the page before; null at first
   * @throws {MediaStoreAway}
   */
  list(prefix: string, after: string | null): Promise<StoredName[]>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

/** One name in a store. */
export interface StoredName {
  name: string;
  /** Unix milliseconds, by the store's clock. */
  at: number;
}

/** The store does not answer, or refuses what it is asked. The message is for the operator and holds no secret. */
export class MediaStoreAway extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "MediaStoreAway";
  }
}
