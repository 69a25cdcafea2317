import assert from "node:assert/strict";
import { createTestChat, type TestChat } from "../../src/testing/index.ts";
import { FlowPerson } from "./flow-person.ts";
import { botOf, edited, type Edit, type Got, type Question } from "./flow-spec.ts";

/** What can happen to a conversation. */
export type Action =
  | { do: "answer"; with: number }
  | { do: "change"; at: number }
  | { do: "back" }
  | { do: "kill" }
  | { do: "deploy"; edits: readonly Edit[] };

/** A conversation with a flow that is changed under it, told by a person who sees only the chat. */
export class FlowRun {
  #chat!: TestChat;
  #questions: Question[] = [];
  #ids = 0;
  #seen = 0;
  readonly #person = new FlowPerson();
  /** Bookings that nobody has looked at. */
  readonly #booked: Got[][] = [];

  get bookings(): number {
    return this.#person.bookings;
  }

  async start(edits: readonly Edit[]): Promise<void> {
    this.#change(edits);
    this.#chat = await createTestChat({ shop: this.#bot() });
    await this.#write("go");
  }

  async act(action: Action): Promise<void> {
    if (action.do === "kill") await this.#chat.kill();
    else if (action.do === "deploy") {
      this.#change(action.edits);
      await this.#chat.deploy({ shop: this.#bot() });
    } else if (this.#person.open === null) await this.#write("go");
    else if (action.do === "answer") await this.#write(this.#person.words(action.with));
    else if (action.do === "back") await this.#write("back");
    else {
      const { key } = this.#questions[action.at % this.#questions.length]!;
      await this.#write(this.#person.wordsForChange(key));
    }
  }

  /** Answers until the conversation has come to its end. */
  async finish(): Promise<void> {
    for (let turn = 0; turn < 60 && this.#person.open !== null; turn++)
      await this.#write(this.#person.words(turn));
    assert.equal(this.#person.open, null, "the conversation has no end");
  }

  close(): Promise<void> {
    return this.#chat?.close() ?? Promise.resolve();
  }

  #change(edits: readonly Edit[]): void {
    for (const edit of edits) this.#questions = edited(this.#questions, edit, () => `q${++this.#ids}`);
  }

  #bot() {
    return botOf(this.#questions, (got) => void this.#booked.push(got));
  }

  async #write(words: string): Promise<void> {
    await this.#chat.user(words);
    const replies = this.#chat.replies();
    const texts = replies.slice(this.#seen).map((reply) => (reply as { text: string }).text);
    this.#seen = replies.length;
    this.#person.hears(texts, this.#booked.splice(0), this.#questions);
  }
}
