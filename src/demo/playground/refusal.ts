/** What the page asked for cannot be done; the words are for the person in front of it. */
export class Refusal extends Error {
  readonly status: number;
  /** @param status of the answer: 400 for what is wrong in itself, 404, 409 for what cannot be now */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
