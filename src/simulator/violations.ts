import type { Time } from "./time.ts";
import type { Violation } from "./surface/stanzas.ts";

/** Everything that the real service or a real phone would have refused. */
export class Violations {
  #list: Violation[] = [];
  #seq = 0;
  readonly #time: Time;

  constructor(time: Time) {
    this.#time = time;
  }

  /**
   * @param rule    short name of the rule, the same for every breach of it
   * @param who     `number:device` of whoever broke it
   * @param detail  what was expected and what came; never key material or message text
   */
  report(rule: string, who: string, detail: string): void {
    this.#list.push({ seq: ++this.#seq, at: this.#time.now(), rule, who, detail });
  }

  all(): Violation[] {
    return [...this.#list];
  }

  /** Takes the violations of one rule out of the list. */
  take(rule: string): Violation[] {
    const taken = this.#list.filter((violation) => violation.rule === rule);
    this.#list = this.#list.filter((violation) => violation.rule !== rule);
    return taken;
  }
}
