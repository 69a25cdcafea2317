import type { Topic } from "./cluster.ts";
import type { Statement } from "../statement.ts";

/**
 * News that are rows: whoever changes what other processes remember writes one into the same commit, and every other process
 * hears of it, in the order of the commits, once, however long it was away. The bus only makes it soon.
 */
export interface News {
  /**
   * For the commit that changes what is remembered elsewhere. Alone: nothing has to be written.
   *
   * @param item JSON, small, and nothing secret: what is to be read again, never what is read
   */
  of<Item>(topic: Topic<Item>, item: Item): Statement[];
  /** How this process hears of what the others have changed. Call it before rows are read for the first time. */
  listen<Item>(topic: Topic<Item>, listener: NewsListener<Item>): void;
}

/** Whoever remembers rows. Both may be asked for what is known already, and one is asked after the other. */
export interface NewsListener<Item> {
  /** The rows of this item are others now. Where it throws, all are read again. */
  hear(item: Item): void | Promise<void>;
  /** Nobody knows which rows are others now. Where it throws, it is called again. */
  reread(): void | Promise<void>;
  /** What was heard and put off is done when it resolves. */
  catchUp?(): Promise<void>;
}

/** One process hears nothing and has nobody to tell. */
export const NO_NEWS: News = { of: () => [], listen: () => undefined };
