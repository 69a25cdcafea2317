/** WhatsApp has not answered a question. That says nothing of what was asked: Baileys would read it as "no". */
export class Unanswered extends Error {
  /** @param what the question, as in "WhatsApp has not answered what devices somebody has" */
  constructor(what: string) {
    super(`WhatsApp has not answered ${what}.`);
    this.name = "Unanswered";
  }
}
