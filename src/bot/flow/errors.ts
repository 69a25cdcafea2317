/** Thrown by `f.step` when the last try fails. It has the message of that try's error. */
export class StepFailedError extends Error {
  /** Key of the step. */
  readonly step: string;

  constructor(step: string, message: string) {
    super(message);
    this.name = "StepFailedError";
    this.step = step;
  }
}

/** Thrown when a flow's code does something that no flow can do. The message says what it did and what to write instead. */
export class FlowMistake extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = "FlowMistake";
  }
}
