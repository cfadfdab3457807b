/** Thrown when checking one set of arguments costs more than it may. */
export class WorkBudgetExceeded extends Error {}

/** Counts the work of one check in steps (about 50 ns each) and stops it at the limit. */
export class WorkBudget {
  private left = 0;

  /** Begins a new check that may spend `steps`. */
  reset(steps: number): void {
    this.left = steps;
  }

  /** @throws WorkBudgetExceeded when nothing is left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new WorkBudgetExceeded();
  }
}
