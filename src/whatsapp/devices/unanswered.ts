/** WhatsApp has not answered a question. That says nothing of what was asked: Baileys would read it as "no". */
export class Unanswered extends Error {
  /** @param what the question, as in "WhatsApp did not answer the query for devices" */
  constructor(what: string) {
    super(`WhatsApp did not answer ${what}.`);
    this.name = "Unanswered";
  }
}
